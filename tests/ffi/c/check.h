/* What every program here uses. */

#ifndef CHECK_H
#define CHECK_H

#include <solon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program when `condition` does not hold. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                          \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Whether `data` is exactly the text `expected`. */
static inline int is_text(const char *data, size_t length, const char *expected) {
    return data != NULL && length == strlen(expected) && memcmp(data, expected, length) == 0;
}

/* Whether `text` has `part` somewhere. */
static inline int has_text(solon_text text, const char *part) {
    size_t length = strlen(part);
    for (size_t at = 0; at + length <= text.length; at++) {
        if (memcmp(text.data + at, part, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Ends the program on an error, showing it. */
static inline void ok(solon_error *error) {
    if (error != NULL) {
        solon_text message = solon_error_message(error);
        fprintf(stderr, "error %d: %.*s\n", (int)solon_error_code(error), (int)message.length, message.data);
        exit(1);
    }
}

/* Frees an error and tells its code. */
static inline solon_code code_of(solon_error *error) {
    solon_code code = solon_error_code(error);
    solon_error_free(error);
    return code;
}

static inline solon_error *set_module(const solon_engine *engine, const char *name, const char *text) {
    return solon_engine_set_module(engine, name, strlen(name), text, strlen(text));
}

static inline solon_error *set_data(const solon_engine *engine, const char *json) {
    return solon_engine_set_data_json(engine, json, strlen(json));
}

/* `input` may be NULL: undefined. */
static inline solon_error *evaluate(const solon_engine *engine, const char *path, const char *input,
                                    solon_bytes *out) {
    return solon_engine_evaluate_json(engine, path, strlen(path), input, input == NULL ? 0 : strlen(input), out);
}

#endif
