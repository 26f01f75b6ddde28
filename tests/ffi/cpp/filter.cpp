/* Row filters. */

#include "check.hpp"

int main() {
    solon::engine engine;
    engine.set_module("filters.rego",
                      "package filters\n\ninclude if input.fruits.colour in input.favourites\n\n"
                      "include if startswith(input.fruits.name, input.prefix)\n\n"
                      "masks.fruits.owner.replace.value := \"***\"\n");
    solon::filter_options options;
    options.targets = {"sql+postgresql", "ucast+prisma"};
    options.unknowns = {"input.fruits"};
    options.mask_rule = "masks";
    options.mappings_json = R"({"fruits": {"$self": "F"}})";
    options.parameters = true;
    const solon::filter include = engine.filter("filters/include", options);

    solon::request request;
    request.input_json(R"({"favourites": ["red"]})");
    const solon::filters made = include.evaluate(request);
    CHECK(made.keeps() && made.keeps(1) && !made.keeps(2));
    CHECK(made.query() == "WHERE F.colour IN ($1)" && made.parameters() == R"(["red"])");
    CHECK(made.query(1).find(R"("field":"F.colour")") != std::string_view::npos);
    CHECK(made.masks() == R"({"fruits":{"owner":{"replace":{"value":"***"}}}})");
    CHECK(made.json().find(R"("postgresql":{)") != std::string_view::npos);

    /* no row is selected */
    request.input_json("{}");
    CHECK(!include.evaluate(request).keeps() && include.evaluate(request).query() == "WHERE 1 = 0");
    CHECK(include.evaluate(request).query(1).empty() && include.evaluate(request).query(2) == "WHERE 1 = 0");

    /* conditions that cannot be expressed are rejected */
    options = {};
    options.unknowns = {"input.fruits"};
    options.targets = {"sql+sqlite"};
    const solon::filter refused = engine.filter("filters/include", options);
    request.input_json(R"({"prefix": "a"})");
    CHECK(!refused.try_evaluate(request) && refused.try_evaluate(request).error().code() == SOLON_ERROR_COMPILE);
    options.extensions = true;
    CHECK(engine.filter("filters/include", options).evaluate(request).query().find("instr(") != std::string_view::npos);
    options.disable_inlining = {"data.filters.include"};
    CHECK(!engine.filter("filters/include", options).try_evaluate(request));
    options.targets = {"sql+oracle"};
    CHECK(THROWS(solon::options_error, engine.filter("filters/include", options)));
    return 0;
}
