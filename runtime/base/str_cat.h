// Joins values into one string: str_cat("rank ", 3, " of ", name).
#pragma once
#include <sstream>
#include <string>

namespace quaver {

template <class... Parts> std::string str_cat(const Parts &...parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

} // namespace quaver
