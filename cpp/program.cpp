#include "program.hpp"

#include <algorithm>
#include <stdexcept>

namespace mercer {

int Program::depth() const {
  int height = 0, most = 0;
  for (const Instruction& i : code) {
    switch (i.op) {
      case Op::leaf:
        if (i.index < 0 || i.index >= n_leaves) throw std::invalid_argument("no such leaf");
        ++height;
        break;
      case Op::constant:
        ++height;
        break;
      case Op::dup:
        if (height < 1) throw std::invalid_argument("program: too few operands");
        ++height;
        break;
      case Op::swap:
        if (height < 2) throw std::invalid_argument("program: too few operands");
        break;
      case Op::add:
      case Op::mul:
        if (height < 2) throw std::invalid_argument("program: too few operands");
        --height;
        break;
      case Op::aux:
      case Op::aux_add:
        if (i.index < 0 || i.index >= n_aux) throw std::invalid_argument("no such aux column");
        if (height < 1) throw std::invalid_argument("program: too few operands");
        break;
      case Op::polynomial:
        if (i.index < 0 || i.index >= static_cast<int>(polynomials.size()) ||
            polynomials[i.index].empty())
          throw std::invalid_argument("no such polynomial");
        if (height < 1) throw std::invalid_argument("program: too few operands");
        break;
      case Op::table:
        if (i.index < 0 || i.index >= static_cast<int>(tables.size()))
          throw std::invalid_argument("no such table");
        [[fallthrough]];
      default:
        if (height < 1) throw std::invalid_argument("program: too few operands");
    }
    most = std::max(most, height);
  }
  if (height != 1) throw std::invalid_argument("program: must leave exactly one value");
  return most;
}

}  // namespace mercer
