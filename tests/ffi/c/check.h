/* Helpers of all programs. */

#ifndef CHECK_H
#define CHECK_H

#include <solon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if `condition` is false. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                          \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* A text and its length. */
#define S(text) (text), strlen(text)

/* Returns true if `data` is exactly the text `expected`. */
static inline int is_text(const char *data, size_t length, const char *expected) {
    return data != NULL && length == strlen(expected) && memcmp(data, expected, length) == 0;
}

/* Returns true if `text` contains `part`; prints the text if not. */
static inline int has_text(solon_text text, const char *part) {
    size_t length = strlen(part);
    for (size_t at = 0; at + length <= text.length; at++) {
        if (memcmp(text.data + at, part, length) == 0) {
            return 1;
        }
    }
    fprintf(stderr, "wanted %s in %.*s\n", part, (int)text.length, text.data);
    return 0;
}

/* Prints an error, if there is one, and ends the program. */
static inline void ok(solon_error *error) {
    if (error != NULL) {
        solon_text message = solon_error_message(error);
        fprintf(stderr, "error %d: %.*s\n", (int)solon_error_code(error), (int)message.length, message.data);
        exit(1);
    }
}

/* Compares bytes and frees them. */
static inline int is_bytes(solon_bytes bytes, const char *expected) {
    int is = is_text(bytes.data, bytes.length, expected);
    if (!is) {
        fprintf(stderr, "wanted %s, got %.*s\n", expected, (int)bytes.length, bytes.data == NULL ? "" : bytes.data);
    }
    solon_bytes_free(bytes);
    return is;
}

/* Returns true if the bytes contain `part`; frees them. */
static inline int has_bytes(solon_bytes bytes, const char *part) {
    solon_text text = {bytes.data, bytes.length};
    int has = has_text(text, part);
    solon_bytes_free(bytes);
    return has;
}

/* Returns true if the JSON of a value is `json`. */
static inline int is_json(const solon_value *value, const char *json) {
    solon_bytes bytes = {NULL, 0};
    solon_error *error = solon_value_json(value, &bytes);
    if (error != NULL) {
        solon_error_free(error);
        return 0;
    }
    return is_bytes(bytes, json);
}

/* Returns true if the JSON of an owned value is `json`; frees it. */
static inline int is_own_json(solon_value *value, const char *json) {
    int is = is_json(value, json);
    solon_value_free(value);
    return is;
}

/* Frees an error and returns its code. */
static inline solon_code code_of(solon_error *error) {
    solon_code code = solon_error_code(error);
    solon_error_free(error);
    return code;
}

static inline solon_error *set_module(solon_engine *engine, const char *name, const char *text) {
    return solon_engine_set_module(engine, name, strlen(name), text, strlen(text));
}

static inline solon_error *set_data(solon_engine *engine, const char *json) {
    return solon_engine_set_data_json(engine, json, strlen(json));
}

static inline solon_value *from_json(const char *json) {
    solon_value *value = NULL;
    ok(solon_value_from_json(json, strlen(json), &value));
    return value;
}

/* `input` may be NULL: undefined. */
static inline solon_error *evaluate(const solon_engine *engine, const char *path, const char *input,
                                    solon_bytes *out) {
    return solon_engine_evaluate_json(engine, path, strlen(path), input, input == NULL ? 0 : strlen(input), out);
}

#endif
