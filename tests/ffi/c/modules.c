/* The modules of an engine. */

#include "check.h"

#define TEXT(literal) {(literal), sizeof(literal) - 1}

int main(void) {
    solon_engine *engine = NULL;
    solon_value *names = NULL;
    solon_bytes bytes = {NULL, 0};
    ok(solon_engine_new(NULL, &engine));

    /* modules that refer to one another, in two languages */
    solon_module modules[] = {
        {TEXT("a.rego"), TEXT("package a\nx := data.b.f(1)"), SOLON_REGO_DEFAULT},
        {TEXT("b.rego"), TEXT("package b\nf(x) = y { y = x + 1 }"), SOLON_REGO_V0},
    };
    ok(solon_engine_set_modules(engine, modules, 2));
    ok(solon_engine_set_modules(engine, NULL, 0));
    ok(evaluate(engine, "a/x", NULL, &bytes));
    CHECK(is_bytes(bytes, "2"));
    ok(solon_engine_module_names(engine, &names));
    CHECK(is_own_json(names, "[\"a.rego\",\"b.rego\"]"));
    ok(solon_engine_module_text(engine, S("b.rego"), &bytes));
    CHECK(is_bytes(bytes, "package b\nf(x) = y { y = x + 1 }"));
    ok(solon_engine_module_json(engine, S("a.rego"), &bytes));
    CHECK(has_bytes(bytes, "\"package\":{\"path\":[{\"type\":\"var\",\"value\":\"data\"},{\"type\":\"string\",\"value\":\"a\"}]}"));
    CHECK(code_of(solon_engine_module_text(engine, S("c.rego"), &bytes)) == SOLON_ERROR_UNKNOWN_MODULE);
    CHECK(code_of(solon_engine_module_json(engine, S("c.rego"), &bytes)) == SOLON_ERROR_UNKNOWN_MODULE);

    /* all of them or none */
    solon_module broken[] = {
        {TEXT("a.rego"), TEXT("package a\nx := 5"), SOLON_REGO_DEFAULT},
        {TEXT("c.rego"), TEXT("package c\nx :="), SOLON_REGO_DEFAULT},
        {TEXT("d.rego"), TEXT("package d\ny := z"), SOLON_REGO_DEFAULT},
    };
    CHECK(code_of(solon_engine_set_modules(engine, broken, 3)) == SOLON_ERROR_COMPILE);
    broken[1].rego = 5;
    CHECK(code_of(solon_engine_set_modules(engine, broken, 3)) == SOLON_ERROR_ARGUMENT);
    broken[1] = broken[0];
    broken[2].text.length = 3;
    solon_error *error = solon_engine_set_modules(engine, broken, 3);
    solon_error_entry entry;
    CHECK(solon_error_count(error) == 1 && solon_error_entry_at(error, 0, &entry) == 1);
    CHECK(is_text(entry.code.data, entry.code.length, "rego_parse_error"));
    CHECK(is_text(entry.file.data, entry.file.length, "d.rego") && entry.row == 1 && entry.column == 1);
    CHECK(solon_error_entry_at(error, 1, &entry) == 0 && solon_error_entry_at(NULL, 0, &entry) == 0);
    solon_error_free(error);
    ok(evaluate(engine, "a/x", NULL, &bytes));
    CHECK(is_bytes(bytes, "2"));

    /* a module that others refer to cannot be removed */
    CHECK(code_of(solon_engine_remove_module(engine, S("b.rego"))) == SOLON_ERROR_COMPILE);
    ok(solon_engine_remove_module(engine, S("a.rego")));
    ok(solon_engine_remove_module(engine, S("b.rego")));
    ok(solon_engine_module_names(engine, &names));
    CHECK(is_own_json(names, "[]"));
    solon_engine_free(engine);
    return 0;
}
