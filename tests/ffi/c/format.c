/* Formatting, with each option, and errors with row and column. */

#include "check.h"

static int formats(const char *text, const solon_format_options *options, const char *expected) {
    solon_bytes bytes = {NULL, 0};
    ok(solon_format(text, SIZE_MAX, options, &bytes));
    return is_bytes(bytes, expected);
}

static void options(void) {
    solon_format_options options = {.size = sizeof options};
    const char *v1 = "package p\nimport rego.v1\nallow if{input.x}";
    const char *v0 = "package p\nallow{input.x}";
    CHECK(formats("package p\nx:=1", NULL, "package p\n\nx := 1\n"));
    CHECK(formats("package p # a\nx:=1 # b", &options, "package p # a\n\nx := 1 # b\n"));
    CHECK(formats(v1, &options, "package p\n\nimport rego.v1\n\nallow if input.x\n"));
    options.drop_v0_imports = 1;
    CHECK(formats(v1, &options, "package p\n\nallow if input.x\n"));
    options = (solon_format_options){.size = sizeof options, .v0_compatible = 1};
    CHECK(formats(v0, &options, "package p\n\nallow {\n\tinput.x\n}\n"));
    options = (solon_format_options){.size = sizeof options, .v0_v1 = 1};
    CHECK(formats(v0, &options, "package p\n\nimport rego.v1\n\nallow if input.x\n"));
    options.v1_compatible = 1;
    CHECK(formats("package p\nallow if input.x", &options, "package p\n\nimport rego.v1\n\nallow if input.x\n"));
    options = (solon_format_options){
        .size = sizeof options, .capabilities_json = "{\"features\": [\"rego_v1\"]}", .capabilities_json_length = SIZE_MAX};
    CHECK(formats("package p\nx := input[\"if\"]", &options, "package p\n\nx := input[\"if\"]\n"));
}

static void errors(void) {
    solon_format_options options = {.size = sizeof options, SOLON_STR("p.rego"), 0, 0, 0, 0, NULL, 0};
    solon_bytes bytes = {NULL, 0};
    solon_error *error = solon_format(SOLON_STR("package p\n\nx := {"), &options, &bytes);
    solon_error_entry entry;
    CHECK(solon_error_code(error) == SOLON_ERROR_COMPILE && bytes.data == NULL);
    CHECK(solon_error_count(error) == 2 && solon_error_entry_at(error, 0, &entry));
    CHECK(is_text(entry.code.data, entry.code.length, "rego_parse_error"));
    CHECK(is_text(entry.file.data, entry.file.length, "p.rego"));
    CHECK(entry.row == 3 && entry.column == 6);
    solon_error_free(error);
    CHECK(code_of(solon_format(SOLON_STR(""), NULL, &bytes)) == SOLON_ERROR_COMPILE);
    CHECK(code_of(solon_format(SOLON_STR("package p\nallow{true}"), NULL, &bytes)) == SOLON_ERROR_COMPILE);
    CHECK(code_of(solon_format(SOLON_STR("\xff"), NULL, &bytes)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_format(NULL, 1, NULL, &bytes)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_format(SOLON_STR("package p"), NULL, NULL)) == SOLON_ERROR_ARGUMENT);
    options = (solon_format_options){.size = sizeof options, .capabilities_json = "{", .capabilities_json_length = 1};
    CHECK(code_of(solon_format(SOLON_STR("package p"), &options, &bytes)) == SOLON_ERROR_OPTIONS);
    CHECK(bytes.data == NULL);
}

int main(void) {
    options();
    errors();
    return 0;
}
