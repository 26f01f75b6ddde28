/* Invalid UTF-8, and wrong lengths. */

#define _DEFAULT_SOURCE

#include "check.h"
#include <sys/mman.h>

static const char *WRONG[] = {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_query *query = NULL;
    solon_change *change = NULL;
    solon_value *value = NULL;
    solon_bytes bytes = {NULL, 0};
    ok(solon_engine_new(NULL, &engine));
    ok(solon_change_new(&change));

    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        const char *wrong = WRONG[i];
        CHECK(code_of(solon_engine_set_module(engine, S(wrong), S("package p"))) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_engine_set_module(engine, S("p.rego"), S(wrong))) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_engine_prepare(engine, S(wrong), &document)) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_engine_prepare_query(engine, S(wrong), NULL, &query)) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_engine_put_json(engine, S(wrong), S("1"))) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_change_set_module(change, S(wrong), S(""), SOLON_REGO_DEFAULT)) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_value_string(S(wrong), &value)) == SOLON_ERROR_ARGUMENT);
        /* in JSON and YAML it is an error of the input */
        CHECK(code_of(solon_value_from_json(S(wrong), &value)) == SOLON_ERROR_INPUT);
        CHECK(code_of(solon_engine_set_data_json(engine, S(wrong))) == SOLON_ERROR_INPUT);
        CHECK(code_of(solon_value_from_yaml(S(wrong), &value)) == SOLON_ERROR_INPUT);
        CHECK(solon_value_get(NULL, S(wrong)) == NULL);
    }

    /* a gigabyte of zero pages, which uses no memory unless it is copied */
    size_t gigabyte = (size_t)1 << 30;
    char *zeros = mmap(NULL, gigabyte, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(zeros != MAP_FAILED);
    CHECK(code_of(solon_value_from_json(zeros, gigabyte, &value)) == SOLON_ERROR_INPUT);
    CHECK(code_of(solon_engine_set_data_json(engine, zeros, gigabyte)) == SOLON_ERROR_INPUT);
    CHECK(code_of(solon_value_number(zeros, gigabyte, &value)) == SOLON_ERROR_ARGUMENT);
    ok(solon_engine_prepare(engine, S("p"), &document));
    bool allowed = true;
    CHECK(code_of(solon_document_allow(document, zeros, gigabyte, &allowed)) == SOLON_ERROR_INPUT && !allowed);
    CHECK(code_of(solon_document_evaluate_json(document, zeros, gigabyte, &bytes)) == SOLON_ERROR_INPUT);
    CHECK(code_of(solon_engine_set_module(engine, S("p.rego"), zeros, gigabyte)) == SOLON_ERROR_COMPILE);
    CHECK(munmap(zeros, gigabyte) == 0);

    /* lengths that exceed any address space are rejected before anything is read */
    const size_t lengths[] = {SIZE_MAX - 1, SIZE_MAX / 2 + 1, (size_t)PTRDIFF_MAX + 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t length = lengths[i];
        CHECK(code_of(solon_value_from_json("1", length, &value)) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_engine_set_module(engine, "a", length, S("package p"))) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_engine_set_module(engine, S("a"), "package p", length)) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_document_evaluate_json(document, "1", length, &bytes)) == SOLON_ERROR_ARGUMENT);
        allowed = true;
        CHECK(code_of(solon_document_allow(document, "1", length, &allowed)) == SOLON_ERROR_ARGUMENT && !allowed);
        const solon_value *items[] = {NULL};
        CHECK(code_of(solon_value_array(items, length, &value)) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_value_array(items, length / sizeof items, &value)) == SOLON_ERROR_ARGUMENT);
        solon_text texts[] = {{"1", length}};
        CHECK(code_of(solon_document_evaluate_many_json(document, NULL, texts, 1, &bytes, NULL)) == SOLON_ERROR_ARGUMENT);
        CHECK(code_of(solon_document_evaluate_many_json(document, NULL, texts, length, &bytes, NULL)) == SOLON_ERROR_ARGUMENT);
        solon_request request = {.size = sizeof request, .input_json = "1", .input_json_length = length};
        CHECK(code_of(solon_document_evaluate(document, &request, &value)) == SOLON_ERROR_ARGUMENT);
        solon_module modules[] = {{{"a", length}, {"package p", 9}, SOLON_REGO_DEFAULT}};
        CHECK(code_of(solon_engine_set_modules(engine, modules, 1)) == SOLON_ERROR_ARGUMENT);
    }
    /* `SIZE_MAX` is the length of text that ends in NUL, and of nothing else */
    const solon_value *items[] = {NULL};
    CHECK(code_of(solon_value_array(items, SIZE_MAX, &value)) == SOLON_ERROR_ARGUMENT);
    solon_text texts[] = {{"1", 1}};
    CHECK(code_of(solon_document_evaluate_many_json(document, NULL, texts, SIZE_MAX, &bytes, NULL)) == SOLON_ERROR_ARGUMENT);
    solon_bundle *bundle = NULL;
    CHECK(code_of(solon_bundle_read(engine, S("b"), "\037\213", SIZE_MAX, NULL, &bundle)) == SOLON_ERROR_ARGUMENT);
    solon_change_free(change);
    solon_document_free(document);
    solon_engine_free(engine);
    return 0;
}
