/* Host functions, and options of requests. */

#include "check.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

using solon::value;

static const char *STRINGS = R"({"type": "function", "args": [{"type": "string"}], "result": {"type": "string"}})";
static const char *NOTHING = R"({"type": "function", "args": [], "result": {"type": "any"}})";

int main() {
    auto kept = std::make_shared<int>(0);
    {
        solon::function greet("greet", STRINGS, [kept](solon::call &call) -> std::optional<value> {
            ++*kept;
            auto name = call[0].as_text();
            CHECK(name && call.size() == 1 && !call[1].is_defined());
            if (*name == "nobody") {
                return std::nullopt;
            }
            if (*name == "boom") {
                throw std::runtime_error("no such name");
            }
            return value("hello " + std::string(*name));
        });
        solon::function who("who", NOTHING, [](solon::call &call) -> std::optional<value> {
            call.add_response_metadata("seen", value(true));
            return call.metadata().is_defined() ? call.metadata().clone() : value();
        }, SOLON_FUNCTION_IMPURE);
        solon::function stop("stop", NOTHING, [](solon::call &call) -> std::optional<value> {
            call.halt("enough");
            return std::nullopt;
        });
        solon::options options;
        options.functions = {greet, who, stop};
        options.host = SOLON_HOST_FIXED;
        options.now_ns = 99;
        solon::engine engine(options);
        engine.set_module("p.rego", "package p\nx := greet(input.name)\ny := who()\nz := stop()\nnow := time.now_ns()\n"
                                    "long := count([1 | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i + j < 0])\n"
                                    "large := count(concat(\"\", [\"abcdefgh\" | some i in numbers.range(1, 300000)]))");
        solon::document x = engine.prepare("p/x");
        CHECK(x.evaluate_json(R"({"name": "ann"})") == "\"hello ann\"" && *kept == 1);
        CHECK(!x.evaluate_json(R"({"name": "nobody"})") && !x.evaluate_json(R"({"name": "boom"})"));
        solon::request request;
        request.input_json(R"({"name": "boom"})").strict_builtin_errors();
        auto failed = x.try_evaluate(request);
        CHECK(!failed && has(failed.error().message(), "greet: no such name"));
        CHECK(THROWS(solon::compile_error, engine.set_module("q.rego", "package q\nx := greet(1)")));
        CHECK(THROWS(solon::eval_error, engine.prepare("p/z").evaluate()));

        solon::metadata told;
        value metadata = value::object({{"tenant", "acme"}});
        solon::request about;
        about.metadata(metadata).response_metadata(told);
        CHECK(engine.prepare("p/y").evaluate_json(about) == R"({"tenant":"acme"})");
        CHECK(told.fields().json() == R"({"seen":true})");

        /* recorded results are replayed */
        solon::nd_cache noted;
        solon::request noting;
        noting.nd_cache(noted);
        CHECK(engine.prepare("p/now").evaluate_json(noting) == "99");
        CHECK(noted.json() == R"({"time.now_ns":{"[]":99}})");
        solon::nd_cache again(R"({"time.now_ns": {"[]": 7}})");
        noting.nd_cache(again);
        CHECK(engine.prepare("p/now").evaluate_json(noting) == "7");

        /* limits, and cancellation from another thread */
        solon::document endless = engine.prepare("p/long");
        solon::limits limits;
        limits.time = std::chrono::milliseconds(1);
        solon::request bounded;
        bounded.limits(limits);
        CHECK(THROWS(solon::timeout_error, endless.evaluate(bounded)));
        CHECK(THROWS(solon::eval_error, endless.evaluate(bounded)));
        limits = {};
        limits.steps = 10000;
        bounded.limits(limits);
        CHECK(THROWS(solon::step_limit_error, endless.evaluate(bounded)));
        limits = {};
        limits.memory = 1 << 20;
        bounded.limits(limits);
        CHECK(THROWS(solon::memory_limit_error, engine.prepare("p/large").evaluate(bounded)));
        solon::cancel cancel;
        solon::request stoppable;
        stoppable.cancel(cancel);
        std::thread stopper([&] { cancel.stop(); });
        CHECK(THROWS(solon::cancelled_error, endless.evaluate(stoppable)));
        stopper.join();
        CHECK(cancel.is_stopped());

        /* metrics */
        solon::metrics metrics(true);
        solon::coverage coverage;
        solon::profile profile;
        solon::request watched;
        watched.input_json(R"({"name": "ann"})").metrics(metrics).coverage(coverage).profile(profile);
        CHECK(x.evaluate_json(watched) == "\"hello ann\"");
        CHECK(has(metrics.json(), "timer_rego_query_eval_ns"));
        CHECK(has(coverage.json(engine.snapshot()), "\"covered\":"));
        CHECK(has(profile.json(engine.snapshot()), "p.rego"));
        CHECK(THROWS(solon::options_error, solon::function("f", "{}", [](solon::call &) { return std::nullopt; })));
        CHECK(kept.use_count() == 2);
    }
    /* the engine is destroyed, and so are the captures of the function */
    CHECK(kept.use_count() == 1);
    return 0;
}
