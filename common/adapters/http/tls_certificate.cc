#include "common/adapters/http/tls_certificate.h"

#include <asio/buffer.hpp>
#include <asio/ssl/context.hpp>
#include <fstream>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/time.h"
#include "common/tls/certificates.h"

namespace carillon {
namespace {

constexpr size_t kFileBytesMax = 1u << 20;

Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kFileBytesMax + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return Error{ErrorCode::kUnavailable, path + " cannot be read"};
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kFileBytesMax) return Error{ErrorCode::kInvalid, path + " is over 1 MiB"};
  return text;
}

// Returns why a certificate is not valid at `now`; empty if it is valid.
std::string Invalid(WallTime from, WallTime until, WallTime now) {
  if (now < from) return "the certificate is valid from " + FormatRfc3339(from) + " on only";
  if (now >= until) return "the certificate ended at " + FormatRfc3339(until);
  return {};
}

}  // namespace

Result<std::unique_ptr<TlsCertificate>> TlsCertificate::Load(const TlsFiles& files,
                                                             const Clock& clock) {
  std::unique_ptr<TlsCertificate> certificate(new TlsCertificate(files, clock));
  const std::lock_guard lock(certificate->mu_);
  CARILLON_TRY(certificate->Use());
  return certificate;
}

std::shared_ptr<asio::ssl::context> TlsCertificate::context() const {
  const std::lock_guard lock(mu_);
  return context_;
}

WallTime TlsCertificate::until() const {
  const std::lock_guard lock(mu_);
  return until_;
}

Result<TlsCertificate::Texts> TlsCertificate::Read() const {
  Texts texts;
  CARILLON_ASSIGN_OR_RETURN(texts.certificate, ReadWhole(files_.certificate_file));
  CARILLON_ASSIGN_OR_RETURN(texts.key, ReadWhole(files_.key_file));
  return texts;
}

Result<std::shared_ptr<asio::ssl::context>> TlsCertificate::Build(const Texts& texts) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                       asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
  std::error_code error;
  // An empty pass phrase. Without this callback, OpenSSL would ask for one on the terminal.
  context->set_password_callback([](size_t, asio::ssl::context::password_purpose) { return ""; },
                                 error);
  if (!error) context->use_certificate_chain(asio::buffer(texts.certificate), error);
  if (error) return Error{ErrorCode::kInvalid, "the certificate: " + error.message()};
  context->use_private_key(asio::buffer(texts.key), asio::ssl::context::pem, error);
  if (error) return Error{ErrorCode::kInvalid, "the key: " + error.message()};
  return context;
}

// Requires mu_.
Status TlsCertificate::Use() {
  CARILLON_ASSIGN_OR_RETURN(Texts texts, Read());
  if (texts == used_) {
    complaint_.clear();
    return {};
  }
  const auto wrong = [this](const std::string& what) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{} with {}: {}", files_.certificate_file, files_.key_file, what)};
  };
  auto built = Build(texts);
  if (!built.ok()) return wrong(built.error().message);
  const auto info = tls::Describe(texts.certificate);
  if (!info.ok()) return wrong(info.error().message);
  const bool first = context_ == nullptr;
  const std::string invalid = Invalid(info->from, info->until, clock_.Wall());
  if (!invalid.empty() && !first) return wrong(invalid);
  if (!invalid.empty()) log::Error("http", "{}: {}", files_.certificate_file, invalid);
  context_ = std::move(built).value();
  until_ = info->until;
  used_ = std::move(texts);
  complaint_.clear();
  if (!first) log::Info("http", "a new certificate from {}", files_.certificate_file);
  return {};
}

Status TlsCertificate::Reload() {
  const std::lock_guard lock(mu_);
  Status used = Use();
  if (!used.ok() && used.error().message != complaint_) {
    complaint_ = used.error().message;
    log::Error("http", "the certificate before stays in use: {}", complaint_);
  }
  return used;
}

}  // namespace carillon
