#include "scheduler/api/http/page.h"

#include <sodium.h>

#include <algorithm>
#include <charconv>

#include "common/wire/json/json_text.h"
#include "scheduler/api/http/short_hash.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kTokenLengthMax = 2048;  // characters; a job's name may be in it
constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

std::string ToBase64(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), kVariant);
  text.pop_back();  // the terminator
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  std::string bytes(text.size(), '\0');
  size_t length = 0;
  const char* end = nullptr;
  const int failed = sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(),
                                       text.data(), text.size(), nullptr, &length, &end, kVariant);
  if (failed != 0 || end != text.data() + text.size()) return std::nullopt;
  bytes.resize(length);
  return bytes;
}

}  // namespace

Outcome<Page> Page::Read(const Query& query, std::string_view list) {
  Page page;
  CARILLON_ASSIGN_OR_RETURN(const auto size,
                            query.Number("page_size", {.low = 1, .high = kPageSizeMax}));
  page.size_ = static_cast<size_t>(size.value_or(kPageSizeDefault));
  page.binding_ = ShortHash(std::string(list) + "?" + query.Filter());
  const auto token = query.Text("page_token");
  if (!token || token->empty()) return page;
  const auto bytes = token->size() <= kTokenLengthMax ? FromBase64(*token) : std::nullopt;
  if (!bytes || !bytes->starts_with(page.binding_) || bytes->size() == page.binding_.size()) {
    return BadPageToken();
  }
  page.cursor_ = bytes->substr(page.binding_.size());
  return page;
}

bool Page::Add(const nlohmann::json& item, std::string cursor) {
  if (count_ >= size_ || refused_) {
    refused_ = true;
    return false;
  }
  std::string text = JsonToText(item);
  if (count_ > 0 && text_.size() + text.size() > kPageBytesMax) {
    refused_ = true;
    return false;
  }
  if (count_ > 0) text_ += ',';
  text_ += text;
  ++count_;
  last_ = std::move(cursor);
  return true;
}

void Page::Skip(std::string cursor) {
  if (refused_) return;
  skipped_ = true;
  last_ = std::move(cursor);
}

void Page::SearchEnded(std::string cursor) {
  if (refused_) return;
  Skip(std::move(cursor));
  search_ended_ = true;
}

void Page::SearchedTo(std::string cursor, WallTime time) {
  if (refused_) return;
  SearchEnded(std::move(cursor));
  searched_to_ = time;
}

std::string Page::Total(bool goes_on, const Counter& count) const {
  if (!cursor_.empty()) return {};
  BoundedCount total{.seen = count_, .all = !goes_on};
  // After a search has reached its limit, no more items must be examined, so nothing is counted.
  if (goes_on && !search_ended_) {
    const auto counted = count();
    if (counted.ok()) total = *counted;
    total.seen = std::max(total.seen, std::min(count_, kListedCountMax));
  }
  return std::string(total.all ? ",\"total\":" : ",\"total_at_least\":") +
         std::to_string(total.seen);
}

HttpResponse Page::Finish(bool more, const Counter& count) {
  const bool goes_on = (more || refused_) && (count_ > 0 || skipped_);
  const std::string token = goes_on ? "\"" + ToBase64(binding_ + last_) + "\"" : "null";
  HttpResponse response{.status = 200, .headers = {{"Content-Type", "application/json"}}};
  response.body = "{\"items\":[" + text_ + "],\"next_page_token\":" + token;
  response.body += Total(goes_on, count);
  if (searched_to_) response.body += ",\"searched_to\":\"" + FormatRfc3339(*searched_to_) + "\"";
  response.body += "}";
  return response;
}

BoundedCount CountOf(size_t size) {
  return {.seen = std::min(size, kListedCountMax), .all = size <= kListedCountMax};
}

Problem BadPageToken() {
  return InvalidField(
      "?page_token", "bad_page_token",
      "This page token does not belong to this list with these filters. Start again without it.");
}

std::optional<uint64_t> ParseCursor(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

HttpResponse JsonResponse(int status, const nlohmann::json& body) {
  HttpResponse response{.status = status, .headers = {{"Content-Type", "application/json"}}};
  response.body = JsonToText(body);
  return response;
}

std::string HeaderOf(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

HttpResponse FromStored(const StoredAnswer& answer) {
  HttpResponse response{.status = answer.status};
  response.body = answer.body;
  response.headers.emplace_back(
      "Content-Type", answer.status < 400 ? "application/json" : "application/problem+json");
  if (!answer.location.empty()) response.headers.emplace_back("Location", answer.location);
  if (!answer.etag.empty()) response.headers.emplace_back("ETag", answer.etag);
  return response;
}

}  // namespace carillon::scheduler
