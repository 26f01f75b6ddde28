#include <solon.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char *text = "package p\nx := 1 + 1";
    solon_engine *engine = NULL;
    solon_bytes bytes = {NULL, 0};
    solon_error *error = solon_engine_new(NULL, &engine);
    if (error == NULL) {
        error = solon_engine_set_module(engine, "p.rego", 6, text, strlen(text));
    }
    if (error == NULL) {
        error = solon_engine_evaluate_json(engine, "p/x", 3, NULL, 0, &bytes);
    }
    printf("%.*s\n", (int)bytes.length, bytes.data == NULL ? "" : bytes.data);
    solon_bytes_free(bytes);
    solon_engine_free(engine);
    solon_error_free(error);
    return error == NULL ? 0 : 1;
}
