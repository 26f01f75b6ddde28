/* An authorizer: an application class that decides by policy, on many threads, and accepts new policies meanwhile. */

#include "check.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace app {

struct subject {
    std::string name;
    std::vector<std::string> roles;
};

struct decision {
    bool allowed = false;
    std::vector<std::string> reasons;
};

class authorizer {
public:
    authorizer() : decision_(engine_.prepare("authz/decision")) {}

    /* Replaces policy and data atomically. On an error both stay unchanged, and the message is returned. */
    std::string reload(std::string_view policy, std::string_view roles) {
        solon::change change;
        change.set_module("authz.rego", policy).put_json("roles", roles);
        auto applied = engine_.try_apply(change);
        return applied ? "" : std::string(applied.error().message());
    }

    /* Denies if the policy returns no decision: neither undefined nor an error is a permission. */
    decision decide(const subject &who, std::string_view action, std::string_view resource) const {
        std::vector<solon::value> roles;
        for (const std::string &role : who.roles) {
            roles.emplace_back(role);
        }
        solon::value input = solon::value::object({
            {"subject", solon::value::object({{"name", who.name}, {"roles", solon::value::array(roles)}})},
            {"action", action},
            {"resource", resource},
        });
        solon::request request;
        request.input(input);
        decision decided;
        auto answer = decision_.try_evaluate(request);
        if (!answer) {
            decided.reasons.emplace_back(answer.error().message());
            return decided;
        }
        if (!*answer) {
            return decided;
        }
        solon::view found = **answer;
        decided.allowed = found["allow"].is_true();
        for (solon::view reason : found["reasons"]) {
            decided.reasons.emplace_back(reason.as_text().value_or("?"));
        }
        return decided;
    }

private:
    solon::engine engine_;
    solon::document decision_;
};

} // namespace app

static const char *POLICY = R"(
package authz

decision := {"allow": count(reasons) == 0, "reasons": reasons}

reasons contains sprintf("no role of %s may %s", [input.subject.name, input.action]) if not permitted

reasons contains "secrets stay secret" if startswith(input.resource, "/secret/")

permitted if {
    some role in input.subject.roles
    input.action in data.roles[role]
}
)";

int main() {
    app::authorizer authorizer;
    const app::subject alice{"alice", {"reader"}};
    CHECK(!authorizer.decide(alice, "read", "/public/a").allowed);

    CHECK(authorizer.reload(POLICY, R"({"reader": ["read"], "writer": ["read", "write"]})").empty());
    CHECK(authorizer.decide(alice, "read", "/public/a").allowed);
    app::decision refused = authorizer.decide(alice, "write", "/secret/a");
    CHECK(!refused.allowed && refused.reasons.size() == 2);
    CHECK(refused.reasons[0] == "no role of alice may write" && refused.reasons[1] == "secrets stay secret");

    /* a module that does not compile changes nothing */
    CHECK(has(authorizer.reload("package authz\ndecision := x", "{}"), "var x is unsafe"));
    CHECK(authorizer.decide(alice, "read", "/public/a").allowed);

    /* many threads decide while one reloads: at any time either all users may read or none */
    std::atomic<bool> ends{false};
    std::atomic<int> asked{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&] {
            while (!ends) {
                app::decision first = authorizer.decide(alice, "read", "/a");
                CHECK(first.allowed == first.reasons.empty());
                asked++;
            }
        });
    }
    /* a checker that runs one thread at a time may run all reloads before the first decision */
    for (int i = 0; i < 25 || asked == 0; i++) {
        CHECK(authorizer.reload(POLICY, R"({"reader": []})").empty());
        CHECK(authorizer.reload(POLICY, R"({"reader": ["read"]})").empty());
    }
    ends = true;
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(authorizer.decide(alice, "read", "/a").allowed);
    return 0;
}
