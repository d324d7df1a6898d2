// A unit-test harness in one header.
//
//   TEST(name) { CHECK(condition); CHECK_NEAR(a, b, tolerance); CHECK_THROWS(expression); }
//
// registers a test; every file that uses it is linked into one program (main.cpp):
//
//   mercer_tests              run everything
//   mercer_tests fuzz gram    run the tests whose name contains one of the words
//   mercer_tests --list       print the names
//
// A failed check is printed with its file, line and values; the test goes on, so that one run shows
// all that is wrong. An exception that leaves a test fails it. The closing line is
// "N passed, N failed", the exit status 0 only when nothing failed and at least one test ran.
#pragma once

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::testing {

struct Case {
  const char* name;
  void (*run)();
};

// Function-local statics: registration happens before main(), in an unknown order of files.
inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failed_checks() {
  static int count = 0;
  return count;
}

struct Registration {
  Registration(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

inline void report(const char* file, int line, const std::string& what) {
  ++failed_checks();
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

inline void check(bool holds, const char* expression, const char* file, int line) {
  if (!holds) report(file, line, std::string("CHECK(") + expression + ") does not hold");
}

// Infinities of one sign are near each other; a NaN is near nothing.
inline void check_near(double a, double b, double tolerance, const char* expression,
                       const char* file, int line) {
  if (a == b || std::fabs(a - b) <= tolerance) return;
  char text[512];
  std::snprintf(text, sizeof text, "CHECK_NEAR(%s): %.17g and %.17g differ by %.3g > %.3g",
                expression, a, b, std::fabs(a - b), tolerance);
  report(file, line, text);
}

inline bool selected(std::string_view name, const std::vector<std::string_view>& words) {
  if (words.empty()) return true;
  for (std::string_view word : words)
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}

inline int run_all(int argc, char** argv) {
  std::vector<std::string_view> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "--list") {
    for (const Case& c : cases()) std::printf("%s\n", c.name);
    return 0;
  }
  int passed = 0, failed = 0;
  for (const Case& c : cases()) {
    if (!selected(c.name, words)) continue;
    const int before = failed_checks();
    try {
      c.run();
    } catch (const std::exception& error) {
      report(c.name, 0, std::string("uncaught exception: ") + error.what());
    } catch (...) {
      report(c.name, 0, "uncaught exception of an unknown type");
    }
    const bool good = failed_checks() == before;
    (good ? passed : failed) += 1;
    if (!good) std::fprintf(stderr, "FAILED %s\n", c.name);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace mercer::testing

#define TEST(name)                                                                             \
  static void mercer_test_##name();                                                            \
  static const ::mercer::testing::Registration mercer_registration_##name(#name,               \
                                                                          mercer_test_##name); \
  static void mercer_test_##name()

#define CHECK(...) ::mercer::testing::check(bool(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CHECK_NEAR(a, b, tolerance)                                                            \
  ::mercer::testing::check_near(double(a), double(b), double(tolerance), #a ", " #b, __FILE__, \
                                __LINE__)

#define CHECK_THROWS(...)                                                                \
  do {                                                                                   \
    bool mercer_thrown = false;                                                          \
    try {                                                                                \
      (void)(__VA_ARGS__);                                                               \
    } catch (...) {                                                                      \
      mercer_thrown = true;                                                              \
    }                                                                                    \
    ::mercer::testing::check(mercer_thrown, #__VA_ARGS__ " throws", __FILE__, __LINE__); \
  } while (false)
