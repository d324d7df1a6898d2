#include "isa/dispatch.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace mercer {

Isa isa_wide();
Isa isa_plain();
#if defined(MERCER_X86)
Isa isa_avx2();
Isa isa_avx512();
#elif defined(MERCER_ARM64)
Isa isa_neon();
#endif

namespace {

/// The paths of this processor, slowest first; the last is taken unless somebody asks for another.
std::vector<Isa> make_table() {
  std::vector<Isa> table{isa_wide(), isa_plain()};
#if defined(MERCER_X86)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) table.push_back(isa_avx2());
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    table.push_back(isa_avx512());
#elif defined(MERCER_ARM64)
  table.push_back(isa_neon());  // every 64-bit ARM processor has it
#endif
  return table;
}

const std::vector<Isa>& table() {
  static const std::vector<Isa> t = make_table();
  return t;
}

/// The path of this name; `asked` says in the error who wants it.
const Isa* find(const std::string& asked, const std::string& name) {
  std::string paths;
  for (const Isa& isa : table()) {
    if (name == isa.name) return &isa;
    paths += (paths.empty() ? "" : ", ") + std::string(isa.name);
  }
  throw std::invalid_argument(asked + name +
                              ": no such instruction set on this processor, which has " + paths);
}

const char* wish() {
  const char* name = std::getenv("MERCER_ISA");
  return name && *name ? name : nullptr;
}

/// A path and why it was taken.
struct Choice {
  std::atomic<const Isa*> isa;
  std::atomic<const char*> reason;
};

Choice& chosen() {
  static Choice c{wish() ? find("MERCER_ISA=", wish()) : &table().back(),
                  wish() ? "set by MERCER_ISA" : "the widest this processor has"};
  return c;
}

}  // namespace

const Isa& current_isa() {
  return *chosen().isa.load(std::memory_order_acquire);
}

std::string isa_reason() {
  return chosen().reason.load(std::memory_order_acquire);
}

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Isa& isa : table()) names.emplace_back(isa.name);
  return names;
}

void set_isa(const std::string& name) {
  const Isa* isa = find("", name);
  chosen().isa.store(isa, std::memory_order_release);
  chosen().reason.store("set by a call", std::memory_order_release);
}

}  // namespace mercer
