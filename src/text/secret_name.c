// SPDX-License-Identifier: MIT
#include "text/secret_name.h"

#include <ctype.h>
#include <string.h>

/* The longest name that is taken apart; a secret of a longer one is found by its end.
 */
#define NAME_MAX_BYTES 128u

/* Words, and pairs of words with a space; in small letters. */
static const char *const secrets[] = {
    "access key",
    "accesskey",
    "accesstoken",
    "api key",
    "apikey",
    "apitoken",
    "auth",
    "authentication",
    "authkey",
    "authorisation",
    "authorization",
    "authtoken",
    "bearer",
    "connection string",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "encryption key",
    "jwt",
    "master key",
    "otp",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "private key",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "secrets",
    "session id",
    "session key",
    "sessionid",
    "signing key",
    "ssh key",
    "token",
    "tokens",
};

/* Endings of words that have no border before them, as in DBPASSWORD. */
static const char *const endings[] = {"password", "passwd", "passphrase", "secret",
                                      "apikey"};

/* Put the words of a name into `words`, one space before each. */
static void take_apart(const char *name, size_t size,
                       char words[2 * NAME_MAX_BYTES + 2])
{
    bool is_small = false, is_begin = true;
    size_t count = 0;

    if (size > NAME_MAX_BYTES) {
        name += size - NAME_MAX_BYTES;
        size = NAME_MAX_BYTES;
    }
    for (size_t i = 0; i < size; i++) {
        int letter = (unsigned char)name[i];
        bool is_letter = isalnum(letter);
        if (is_letter && (is_begin || (isupper(letter) && is_small)))
            words[count++] = ' ';
        if (is_letter)
            words[count++] = (char)tolower(letter);
        is_begin = !is_letter;
        is_small = !isupper(letter);
    }
    words[count] = '\0';
}

/* Whether `words` has these words, and not only a part of one. */
static bool has_words(const char *words, const char *wanted)
{
    size_t size = strlen(wanted);

    for (const char *at = words; (at = strchr(at, ' ')); at++) {
        if (strncmp(at + 1, wanted, size) == 0 &&
            (at[1 + size] == ' ' || at[1 + size] == '\0'))
            return true;
    }
    return false;
}

static bool has_ending(const char *words, const char *ending)
{
    size_t size = strlen(ending);

    for (const char *at = words; (at = strstr(at, ending)); at++) {
        if (at[size] == ' ' || at[size] == '\0')
            return true;
    }
    return false;
}

bool cunei_is_secret_name(const char *name, size_t size)
{
    char words[2 * NAME_MAX_BYTES + 2];

    take_apart(name, size, words);
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (has_words(words, secrets[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (has_ending(words, endings[i]))
            return true;
    }
    return false;
}
