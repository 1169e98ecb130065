// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "text/redact.h"
#include "text/secret_name.h"

static void expect(struct cunei_buffer *out, const char *wanted)
{
    cunei_buffer_append(out, "", 1);
    assert_string_equal(out->data, wanted);
    cunei_buffer_fini(out);
}

static void names_of_secrets_are_found_by_their_words(void **state)
{
    (void)state;
    static const char *const secrets[] = {
        "password",      "DB_PASSWORD", "dbPassword", "DBPASSWORD",    "passwd",
        "pwd",           "secret",      "SECRET_KEY", "client-secret", "token",
        "X-Auth-Token",  "accessToken", "api_key",    "apikey",        "APIKey",
        "Authorization", "private_key", "session_id", "cookie",        "auth_tokens",
    };
    static const char *const others[] = {"",        "tokenizer", "tokenize",  "author",
                                         "key",     "keys",      "session",   "passed",
                                         "compass", "apikeys_",  "secretary", "bypass"};

    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (!cunei_is_secret_name(secrets[i], strlen(secrets[i])))
            fail_msg("'%s' was not found", secrets[i]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (cunei_is_secret_name(others[i], strlen(others[i])))
            fail_msg("'%s' is no secret", others[i]);
    }
}

static void the_value_of_a_secret_is_hidden(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *wanted;
    } rows[] = {
        {"password", "'hunter2'", "•••"}, {"password", "None", "None"},
        {"password", "Nonesuch", "•••"},  {"password", "", ""},
        {"user", "'me'", "'me'"},         {"config", "{'pwd': 'x'}", "{'pwd': '•••'}"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer out = {0};
        cunei_redact_value(&out, rows[i].name, strlen(rows[i].name), rows[i].value,
                           strlen(rows[i].value));
        expect(&out, rows[i].wanted);
    }
}

static void values_with_names_are_hidden_in_a_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"Config(user='me', password='hunter2', n=1)",
         "Config(user='me', password='•••', n=1)"},
        {"{'api_key': b'\\'x\\'y', 'b': 2}", "{'api_key': b'•••', 'b': 2}"},
        {"{\"token\": \"abc\", \"id\": 3}", "{\"token\": \"•••\", \"id\": 3}"},
        {"token=abc&user=me", "token=•••&user=me"},
        {"auth=('me', 'x)y'), n=1", "auth=•••, n=1"},
        {"password=<Secret 'x'>, n=1", "password=•••, n=1"},
        {"password='cut of", "password='•••"},
        {"run --password hunter2 --user me", "run --password ••• --user me"},
        {"run --password=hunter2 -v", "run --password=••• -v"},
        {"['--token', 'abc', '-v']", "['--token', '•••', '-v']"},
        {"--token --user me", "--token --user me"},
        {"[('pwd', 'x'), ('n', 1)]", "[('pwd', '•••'), ('n', 1)]"},
        {"('token', 1)", "('token', 1)"},
        {"Authorization: Bearer abc.def, Accept: *", "Authorization: •••, Accept: *"},
        {"'Bearer eyJhbGci1'", "'Bearer •••'"},
        {"basic arithmetic", "basic arithmetic"},
        {"https://me:hunter2@host/x", "https://me:•••@host/x"},
        {"https://host:80/a@b", "https://host:80/a@b"},
        {"password=None, token=True", "password=None, token=True"},
        {"-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----",
         "-----BEGIN RSA PRIVATE KEY-----•••-----END RSA PRIVATE KEY-----"},
        {"the token == 3", "the token == 3"},
        {"tokenizer='a'", "tokenizer='a'"},
        {"password", "password"},
        {"password=", "password="},
        {"", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer out = {0};
        cunei_redact_text(&out, rows[i].text, strlen(rows[i].text));
        expect(&out, rows[i].wanted);
    }
}

static void literals_of_secrets_are_hidden_in_source(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"PASSWORD = \"hunter2\"  # x", "PASSWORD = \"•••\"  # x"},
        {"token: str = f'a{b}'\nx = 'y'", "token: str = f'•••'\nx = 'y'"},
        {"os.environ[\"TOKEN\"] = 'abc'", "os.environ[\"TOKEN\"] = '•••'"},
        {"password = os.environ.get('DB', 'x')",
         "password = os.environ.get('•••', '•••')"},
        {"login(user='me', password='x', n='y')",
         "login(user='me', password='•••', n='y')"},
        {"get('TOKEN', 'abc')", "get('TOKEN', '•••')"},
        {"if self.token == '(':", "if self.token == '(':"},
        {"token = next(tokens)", "token = next(tokens)"},
        {"KEY = '''-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----'''",
         "KEY = '''-----BEGIN PRIVATE KEY-----•••\n\n-----END PRIVATE KEY-----'''"},
        {"secret = '''a\nb'''\nc = 1", "secret = '''•••\n'''\nc = 1"},
        {"password = 'open\nx = 'y'", "password = '•••\nx = 'y'"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer out = {0};
        cunei_redact_source(&out, rows[i].text, strlen(rows[i].text));
        expect(&out, rows[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_secrets_are_found_by_their_words),
        cmocka_unit_test(the_value_of_a_secret_is_hidden),
        cmocka_unit_test(values_with_names_are_hidden_in_a_text),
        cmocka_unit_test(literals_of_secrets_are_hidden_in_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
