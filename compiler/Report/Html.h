// The parts of a self-contained HTML page: no script, no style and no picture comes from elsewhere.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace quaver::report {

/// Text as it may stand between tags and in quoted attributes.
std::string escaped(const std::string &text);

/// A whole page. `title` is text, `body` is HTML.
std::string page(const std::string &title, const std::string &body);

/// A table; headers are text, cells are HTML. `numeric`: columns whose cells are set to the right.
class Table {
public:
  Table(std::vector<std::string> headers, std::vector<bool> numeric);
  /// One cell for every header.
  void row(const std::vector<std::string> &cells);
  std::string html() const;

private:
  std::vector<bool> numeric;
  size_t columns;
  std::string head, body;
};

/// A bar of `share` (0 to 1, clamped) of the cell's width, with text on it.
std::string bar(double share, const std::string &text);
/// "12.3" of a number of decibels; "exact" for null.
std::string decibels(const nlohmann::json &ratio);
/// "12.3 %"; nothing for null.
std::string percent(const nlohmann::json &share);
/// "%.3g" of a number; nothing for null.
std::string shortNumber(const nlohmann::json &number);

/// Columns for the counts of neighbouring powers of two from 2^low up; those outside [formatLow, formatHigh]
/// are drawn in the colour of loss. `label` is text for the tooltip.
std::string histogram(int low, const std::vector<int64_t> &counts, int formatLow, int formatHigh,
                      const std::string &label);

/// Points in order, one dot for each value that is not null, on a scale from 0 to the largest; two series.
std::string dots(const std::vector<nlohmann::json> &first, const std::vector<nlohmann::json> &second,
                 const std::vector<std::string> &names);

} // namespace quaver::report
