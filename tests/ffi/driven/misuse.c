/* Invalid uses that memory checkers must detect: the argument selects one. */

#include "../c/check.h"

int main(int count, char **arguments) {
    const char *which = count > 1 ? arguments[1] : "";
    solon_engine *engine = NULL;
    solon_value *value = NULL;
    solon_bytes bytes = {NULL, 0};
    solon_text text = {NULL, 0};
    ok(solon_engine_new(NULL, &engine));
    if (strcmp(which, "bytes") == 0) {
        /* text that was freed */
        ok(solon_engine_get_json(engine, "", 0, &bytes));
        solon_bytes_free(bytes);
        return bytes.data[0] == '{' ? 0 : 1;
    }
    if (strcmp(which, "part") == 0) {
        /* text of a value that was freed */
        ok(solon_value_string(S("a string that is longer than any word"), &value));
        CHECK(solon_value_to_text(value, &text) == 1);
        solon_value_free(value);
        return text.data[0] == 'a' ? 0 : 1;
    }
    if (strcmp(which, "twice") == 0) {
        /* bytes that are freed twice */
        ok(solon_engine_get_json(engine, "", 0, &bytes));
        solon_bytes_free(bytes);
        solon_bytes_free(bytes);
        return 0;
    }
    if (strcmp(which, "handle") == 0) {
        /* a handle that was freed */
        ok(solon_value_int(1, &value));
        solon_value_free(value);
        return solon_value_kind(value) == SOLON_KIND_NUMBER ? 0 : 1;
    }
    if (strcmp(which, "leak") == 0) {
        /* a handle that is leaked */
        ok(solon_value_from_json(S("[1, 2, 3]"), &value));
        value = NULL;
    }
    solon_engine_free(engine);
    return 0;
}
