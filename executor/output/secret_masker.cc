#include "executor/output/secret_masker.h"

#include <algorithm>

#include "executor/output/secret_forms.h"

namespace carillon::executor {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

SecretPatterns::SecretPatterns(const std::vector<std::string>& values) {
  for (const std::string& value : values) AddLines(value);
  std::vector<std::string> trimmed;
  for (const std::string& value : values) trimmed.emplace_back(Trimmed(value));
  for (const std::string& form : FormsOf(trimmed)) Add(form);
  Connect();
}

// Adds the whole value, because some of its lines may be too short to be patterns. Also adds each
// line, because a command may print the value indented.
void SecretPatterns::AddLines(std::string_view value) {
  Add(Trimmed(value));
  while (!value.empty()) {
    const size_t end = value.find('\n');
    const std::string_view line = Trimmed(value.substr(0, end));
    if (line.size() >= kLineBytesMin) Add(line);
    if (end == std::string_view::npos) return;
    value.remove_prefix(end + 1);
  }
}

void SecretPatterns::Add(std::string_view pattern) {
  State at = kStart;
  for (const char byte : pattern) {
    State next = Child(at, byte);
    if (next == 0) {
      next = static_cast<State>(nodes_.size());
      nodes_.push_back({.sibling = nodes_[at].child, .depth = nodes_[at].depth + 1, .byte = byte});
      nodes_[at].child = next;
      if (at == kStart) first_[static_cast<unsigned char>(byte)] = next;
    }
    at = next;
  }
  nodes_[at].match = nodes_[at].depth;
}

SecretPatterns::State SecretPatterns::Child(State state, char byte) const {
  if (state == kStart) return first_[static_cast<unsigned char>(byte)];
  State child = nodes_[state].child;
  while (child != 0 && nodes_[child].byte != byte) child = nodes_[child].sibling;
  return child;
}

// Sets the fail links level by level: a link leads to a node of a lower level, which must be
// complete before.
void SecretPatterns::Connect() {
  std::vector<State> level;
  for (State child = nodes_[kStart].child; child != 0; child = nodes_[child].sibling) {
    level.push_back(child);
  }
  while (!level.empty()) {
    std::vector<State> next_level;
    for (const State parent : level) {
      for (State at = nodes_[parent].child; at != 0; at = nodes_[at].sibling) {
        nodes_[at].fail = Next(nodes_[parent].fail, nodes_[at].byte);
        if (nodes_[at].match == 0) nodes_[at].match = nodes_[nodes_[at].fail].match;
        next_level.push_back(at);
      }
    }
    level = std::move(next_level);
  }
}

SecretPatterns::State SecretPatterns::Next(State state, char byte) const {
  for (;;) {
    const State child = Child(state, byte);
    if (child != 0 || state == kStart) return child;
    state = nodes_[state].fail;
  }
}

std::string SecretMasker::Feed(std::string_view bytes) {
  uint64_t at = shown_ + held_.size();
  held_ += bytes;
  for (const char byte : bytes) {
    const bool escape = IsEscape(byte);
    if (state_ == SecretPatterns::kStart && !viewing_ && !escape && !patterns_->Begins(byte)) {
      ++at;  // most bytes
      continue;
    }
    if (viewing_ || escape) {
      for (View& view : views_) {
        if (view.active || view.escapes.Begins(byte)) Look(view, byte, at);
      }
    }
    state_ = patterns_->Next(state_, byte);
    ++at;
    const size_t match = patterns_->match(state_);
    if (match > 0) Cover({at - match, at});
    if (viewing_ || escape) {
      for (View& view : views_) view.active = view.active && !SameAsStream(view, at);
      viewing_ = views_[0].active || views_[1].active;
    }
  }
  return ShowUntil(Undecided(at));
}

// Takes the byte at `at` before the stream itself does.
void SecretMasker::Look(View& view, char byte, uint64_t at) {
  if (!view.active) {
    view.active = true;
    view.state = state_;
    view.from.clear();
    for (size_t depth = patterns_->depth(state_); depth > 0; --depth) {
      view.from.push_back(at - depth);
    }
  }
  view.escapes.Step(byte, at, [&](char read, uint64_t from, uint64_t to) {
    view.state = patterns_->Next(view.state, read);
    view.from.push_back(from);
    while (view.from.size() > patterns_->depth(view.state)) view.from.pop_front();
    const size_t match = patterns_->match(view.state);
    if (match > 0) Cover({view.from[view.from.size() - match], to});
  });
}

// True if the view will find the same as the stream from here on, if no escape follows.
bool SecretMasker::SameAsStream(const View& view, uint64_t at) const {
  const bool same = !view.escapes.within() && view.state == state_;
  return same && (view.from.empty() || view.from.front() + view.from.size() == at);
}

// The position from which on bytes may still belong to a value.
uint64_t SecretMasker::Undecided(uint64_t at) const {
  uint64_t undecided = at - patterns_->depth(state_);
  for (const View& view : views_) {
    if (!view.active) continue;
    if (view.escapes.within()) undecided = std::min(undecided, view.escapes.from());
    if (!view.from.empty()) undecided = std::min(undecided, view.from.front());
  }
  return undecided;
}

std::string SecretMasker::End() {
  state_ = SecretPatterns::kStart;
  for (View& view : views_) {
    view.active = false;
    view.escapes.Reset();
  }
  viewing_ = false;
  return ShowUntil(shown_ + held_.size());
}

// Merges `found` with the stretches that it touches. `found` ends at the last byte read, or within
// an escape's length before it, so only the most recent stretches can touch it.
void SecretMasker::Cover(Stretch found) {
  while (!covered_.empty() && covered_.back().to >= found.from) {
    found.from = std::min(found.from, covered_.back().from);
    found.to = std::max(found.to, covered_.back().to);
    covered_.pop_back();
  }
  covered_.push_back(found);
}

std::string SecretMasker::ShowUntil(uint64_t end) {
  std::string out;
  const uint64_t begin = shown_;
  const auto piece = [&](uint64_t to) {
    return std::string_view(held_).substr(shown_ - begin, to - shown_);
  };
  while (shown_ < end) {
    const bool any = !covered_.empty();
    const uint64_t from = any ? std::min(covered_.front().from, end) : end;
    if (shown_ < from) {
      Show(piece(from), false, out);
      shown_ = from;
      continue;
    }
    const uint64_t to = std::min(covered_.front().to, end);
    Show(piece(to), true, out);
    shown_ = to;
    if (to == covered_.front().to) covered_.pop_front();
  }
  held_.erase(0, shown_ - begin);
  return out;
}

void SecretMasker::Show(std::string_view bytes, bool covered, std::string& out) {
  if (!covered) {
    out += bytes;
    masking_ = false;
    return;
  }
  for (const char byte : bytes) {
    if (byte == '\n') {
      out += byte;
    } else if (!masking_) {
      out += kMask;
    }
    masking_ = byte != '\n';
  }
}

std::string Masked(const std::shared_ptr<const SecretPatterns>& patterns, std::string_view text) {
  if (patterns == nullptr) return std::string(text);
  SecretMasker masker(patterns);
  std::string shown = masker.Feed(text);
  return shown + masker.End();
}

}  // namespace carillon::executor
