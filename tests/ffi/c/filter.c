/* Row filters. */
#include "check.h"

int main(void) {
    solon_engine *engine = NULL;
    solon_filter *filter = NULL;
    solon_filters *made = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "filters.rego",
                  "package filters\n\ninclude if input.fruits.colour in input.favourites\n\n"
                  "include if startswith(input.fruits.name, input.prefix)\n\n"
                  "masks.fruits.owner.replace.value := \"***\"\n"));
    solon_filter_options options = {.size = sizeof options};
    options.targets_json = "[\"sql+postgresql\", \"ucast+prisma\"]";
    options.targets_json_length = strlen(options.targets_json);
    options.unknowns_json = "[\"input.fruits\"]";
    options.unknowns_json_length = strlen(options.unknowns_json);
    options.mask_rule = "masks";
    options.mask_rule_length = strlen(options.mask_rule);
    options.mappings_json = "{\"fruits\": {\"$self\": \"F\"}}";
    options.mappings_json_length = strlen(options.mappings_json);
    options.parameters = 1;
    ok(solon_engine_prepare_filter(engine, S("filters/include"), &options, &filter));

    solon_request request = {.size = sizeof request};
    request.input_json = "{\"favourites\": [\"red\"]}";
    request.input_json_length = strlen(request.input_json);
    ok(solon_filter_evaluate(filter, &request, &made));
    CHECK(solon_filters_keeps(made, 0) && solon_filters_keeps(made, 1) && !solon_filters_keeps(made, 2));
    CHECK(has_text(solon_filters_query(made, 0), "WHERE F.colour IN ($1)"));
    CHECK(has_text(solon_filters_parameters(made, 0), "[\"red\"]"));
    CHECK(has_text(solon_filters_query(made, 1), "\"field\":\"F.colour\""));
    CHECK(has_text(solon_filters_masks(made), "{\"fruits\":{\"owner\":{\"replace\":{\"value\":\"***\"}}}}"));
    CHECK(has_text(solon_filters_json(made), "\"postgresql\":{"));
    solon_filters_free(made);

    /* no row is selected */
    request.input_json = "{}";
    request.input_json_length = 2;
    ok(solon_filter_evaluate(filter, &request, &made));
    CHECK(!solon_filters_keeps(made, 0) && !solon_filters_keeps(made, 1));
    /* a condition that is never true, so that a query without the check returns nothing */
    CHECK(is_text(solon_filters_query(made, 0).data, solon_filters_query(made, 0).length, "WHERE 1 = 0"));
    CHECK(solon_filters_query(made, 1).length == 0);
    CHECK(is_text(solon_filters_query(made, 2).data, solon_filters_query(made, 2).length, "WHERE 1 = 0"));
    CHECK(is_text(solon_filters_query(NULL, 0).data, solon_filters_query(NULL, 0).length, "WHERE 1 = 0"));
    CHECK(solon_filters_masks(made).length == 0);
    solon_filters_free(made);
    solon_filter_free(filter);

    /* conditions that cannot be expressed are rejected with their location */
    options.targets_json = "[\"sql+sqlite\"]";
    options.targets_json_length = strlen(options.targets_json);
    ok(solon_engine_prepare_filter(engine, S("filters/include"), &options, &filter));
    request.input_json = "{\"prefix\": \"a\"}";
    request.input_json_length = strlen(request.input_json);
    CHECK(code_of(solon_filter_evaluate(filter, &request, &made)) == SOLON_ERROR_COMPILE);
    solon_filter_free(filter);

    /* unless extensions are enabled, and express them exactly */
    options.extensions = 1;
    ok(solon_engine_prepare_filter(engine, S("filters/include"), &options, &filter));
    ok(solon_filter_evaluate(filter, &request, &made));
    CHECK(has_text(solon_filters_query(made, 0), "instr(F.name, ?) = 1"));
    CHECK(has_text(solon_filters_parameters(made, 0), "[\"a\"]"));
    solon_filters_free(made);
    solon_filter_free(filter);

    /* a program that was compiled before there were extensions does not enable them */
    options.size = offsetof(solon_filter_options, disable_inlining_json);
    ok(solon_engine_prepare_filter(engine, S("filters/include"), &options, &filter));
    CHECK(code_of(solon_filter_evaluate(filter, &request, &made)) == SOLON_ERROR_COMPILE);
    solon_filter_free(filter);
    options.size = sizeof options;

    /* documents that are not inlined cannot be expressed */
    options.extensions = 0;
    options.targets_json = "[\"sql+postgresql\"]";
    options.targets_json_length = strlen(options.targets_json);
    options.disable_inlining_json = "[\"data.filters.include\"]";
    options.disable_inlining_json_length = strlen(options.disable_inlining_json);
    ok(solon_engine_prepare_filter(engine, S("filters/include"), &options, &filter));
    CHECK(code_of(solon_filter_evaluate(filter, &request, &made)) == SOLON_ERROR_COMPILE);
    solon_filter_free(filter);
    options.targets_json = "[\"sql+oracle\"]";
    options.targets_json_length = strlen(options.targets_json);
    solon_error *error = solon_engine_prepare_filter(engine, S("filters/include"), &options, &filter);
    CHECK(solon_error_code(error) == SOLON_ERROR_OPTIONS && has_text(solon_error_message(error), "expected one of ucast+all, "));
    solon_error_free(error);

    /* a rule has two names; one that does not exist is an error, and so is that for masks */
    options.targets_json = "[\"sql+postgresql\"]";
    options.targets_json_length = SIZE_MAX;
    ok(solon_engine_prepare_filter(engine, S("data.filters.include"), &options, &filter));
    solon_filter_free(filter);
    CHECK(code_of(solon_engine_prepare_filter(engine, S("filters/nope"), &options, &filter)) == SOLON_ERROR_UNKNOWN_PATH);
    CHECK(code_of(solon_engine_prepare_filter(engine, S("filters.include"), &options, &filter)) == SOLON_ERROR_OPTIONS);
    options.mask_rule = "nope";
    options.mask_rule_length = SIZE_MAX;
    CHECK(code_of(solon_engine_prepare_filter(engine, S("filters/include"), &options, &filter)) == SOLON_ERROR_UNKNOWN_PATH);

    solon_engine_free(engine);
    return 0;
}
