// SPDX-License-Identifier: MIT
#include "export/exact.h"

#include <errno.h>
#include <stdlib.h>

#include "model/tree.h"
#include "survey/survey.h"

struct share {
    uint64_t self_ns; /* of all nodes of a function */
    uint32_t largest; /* of them; 0: there is none */
};

int cunei_exact_tree(struct cunei_survey *survey)
{
    struct cunei_tree *tree = survey->tree;
    uint32_t count = survey->functions.count;
    struct share *shares = calloc(count + (size_t)1, sizeof(*shares));

    if (!shares)
        return -ENOMEM;
    for (uint32_t i = 1; i < tree->count; i++) {
        struct share *share = &shares[tree->nodes[i].slot];
        share->self_ns += tree->nodes[i].self;
        if (share->largest == 0 ||
            tree->nodes[i].self > tree->nodes[share->largest].self)
            share->largest = i;
    }
    /* Where the tree is full, functions have what is not theirs. */
    for (uint32_t slot = 1; tree->folded == 0 && slot <= count; slot++) {
        uint64_t self_ns = survey->facts[slot - 1].self_ns;
        if (shares[slot].largest > 0 && self_ns > shares[slot].self_ns)
            tree->nodes[shares[slot].largest].self += self_ns - shares[slot].self_ns;
    }
    free(shares);
    return 0;
}
