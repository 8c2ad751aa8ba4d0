#include "common/tls/certificates.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>

#include <fmt/core.h>

#include "common/tls/openssl_handles.h"

namespace carillon::tls {
namespace {

constexpr int kSerialBits = 127;  // positive in 16 bytes

using Extension = Handle<X509_EXTENSION, &X509_EXTENSION_free>;
using Number = Handle<BIGNUM, &BN_free>;
using Store = Handle<X509_STORE, &X509_STORE_free>;
using StoreContext = Handle<X509_STORE_CTX, &X509_STORE_CTX_free>;

// Aborts if an OpenSSL call did not succeed. Only for calls that fail only for lack of memory.
void Must(bool done, const char* what) { CARILLON_CHECK(done, what); }

time_t Seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

WallTime TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return WallTime{};
  return WallTime(std::chrono::seconds(timegm(&parts)));
}

Key MakeKey() {
  Key key(EVP_EC_gen("P-256"));
  Must(key != nullptr, "EVP_EC_gen");
  return key;
}

void SetName(X509_NAME* name, const std::string& common_name) {
  Must(X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8,
                                  reinterpret_cast<const unsigned char*>(common_name.data()),
                                  static_cast<int>(common_name.size()), -1, 0) == 1,
       "X509_NAME_add_entry_by_NID");
}

Status AddExtension(X509& certificate, X509& issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  if (!extension) return OpensslError("certificate: '" + value + "'");
  Must(X509_add_ext(&certificate, extension.get(), -1) == 1, "X509_add_ext");
  return {};
}

void SetSerial(X509& certificate) {
  const Number number(BN_new());
  Must(number != nullptr &&
           BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1,
       "BN_rand");
  Must(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr,
       "BN_to_ASN1_INTEGER");
}

struct Subject {
  const std::string& common_name;
  EVP_PKEY& key;
  WallTime from;
  WallTime until;
};

Certificate Unsigned(const Subject& subject) {
  Certificate certificate(X509_new());
  Must(certificate != nullptr && X509_set_version(certificate.get(), X509_VERSION_3) == 1,
       "X509_new");
  SetSerial(*certificate);
  Must(ASN1_TIME_set(X509_getm_notBefore(certificate.get()), Seconds(subject.from)) != nullptr &&
           ASN1_TIME_set(X509_getm_notAfter(certificate.get()), Seconds(subject.until)) != nullptr,
       "ASN1_TIME_set");
  SetName(X509_get_subject_name(certificate.get()), subject.common_name);
  Must(X509_set_pubkey(certificate.get(), &subject.key) == 1, "X509_set_pubkey");
  return certificate;
}

std::string AlternativeNames(const IssueOptions& options) {
  std::string text = "DNS:" + options.common_name;
  for (const std::string& name : options.dns) text += ",DNS:" + name;
  for (const std::string& address : options.addresses) text += ",IP:" + address;
  return text;
}

// Rejects characters that would end a name and begin another in OpenSSL's notation.
Status CheckNames(const IssueOptions& options) {
  const auto bad = [](const std::string& name) {
    return name.empty() || name.size() > 64 || name.find_first_of(",:;@ \n") != std::string::npos;
  };
  if (bad(options.common_name)) return {ErrorCode::kInvalid, "not a name for a certificate"};
  for (const std::string& name : options.dns) {
    if (bad(name)) return {ErrorCode::kInvalid, "not a host name for a certificate: " + name};
  }
  for (const std::string& address : options.addresses) {
    const bool literal = address.find_first_not_of("0123456789abcdefABCDEF.:") == address.npos;
    if (!literal) return {ErrorCode::kInvalid, "not an address for a certificate: " + address};
  }
  return {};
}

const char* UsageOf(Purpose purpose) {
  switch (purpose) {
    case Purpose::kServer: return "serverAuth";
    case Purpose::kClient: return "clientAuth";
    case Purpose::kBoth: break;
  }
  return "serverAuth,clientAuth";
}

std::string FingerprintOf(X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  Must(X509_digest(&certificate, EVP_sha256(), digest.data(), &size) == 1, "X509_digest");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

bool MaySign(X509& certificate) { return X509_check_ca(&certificate) == 1; }

}  // namespace

std::string NewKey() { return KeyText(*MakeKey()); }

Result<std::string> NewRequest(const std::string& key, const std::string& common_name) {
  CARILLON_ASSIGN_OR_RETURN(const Key parsed, ReadKey(key));
  const Request request(X509_REQ_new());
  Must(request != nullptr, "X509_REQ_new");
  SetName(X509_REQ_get_subject_name(request.get()), common_name);
  Must(X509_REQ_set_pubkey(request.get(), parsed.get()) == 1, "X509_REQ_set_pubkey");
  if (X509_REQ_sign(request.get(), parsed.get(), EVP_sha256()) <= 0) {
    return OpensslError("signing a request");
  }
  return RequestText(*request);
}

Result<CertificateInfo> Describe(const std::string& pem) {
  CARILLON_ASSIGN_OR_RETURN(const Certificate certificate, ReadCertificate(pem));
  return CertificateInfo{.common_name = CommonName(X509_get_subject_name(certificate.get())),
                         .from = TimeOf(X509_get0_notBefore(certificate.get())),
                         .until = TimeOf(X509_get0_notAfter(certificate.get())),
                         .authority = MaySign(*certificate),
                         .fingerprint = FingerprintOf(*certificate)};
}

Status CheckPair(const std::string& certificate, const std::string& key) {
  CARILLON_ASSIGN_OR_RETURN(const Certificate parsed, ReadCertificate(certificate));
  CARILLON_ASSIGN_OR_RETURN(const Key own, ReadKey(key));
  if (X509_check_private_key(parsed.get(), own.get()) == 1) return {};
  return OpensslError("the key is not that of the certificate");
}

Status CheckIssued(const std::string& certificate, const std::string& authority, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const Certificate issued, ReadCertificate(certificate));
  CARILLON_ASSIGN_OR_RETURN(const Certificate issuer, ReadCertificate(authority));
  const Store store(X509_STORE_new());
  const StoreContext context(X509_STORE_CTX_new());
  Must(store != nullptr && context != nullptr &&
           X509_STORE_add_cert(store.get(), issuer.get()) == 1 &&
           X509_STORE_CTX_init(context.get(), store.get(), issued.get(), nullptr) == 1,
       "X509_STORE_CTX_init");
  X509_STORE_CTX_set_time(context.get(), 0, Seconds(now));
  if (X509_verify_cert(context.get()) == 1) return {};
  const int why = X509_STORE_CTX_get_error(context.get());
  return {ErrorCode::kDenied,
          fmt::format("certificate of '{}': {}", CommonName(X509_get_subject_name(issued.get())),
                      X509_verify_cert_error_string(why))};
}

struct Authority::Parts {
  Certificate issuer;
  Key signing;
  std::string certificate;
  std::string key;
  std::string fingerprint;

  Result<std::string> Sign(EVP_PKEY& subject_key, const IssueOptions& options) const;
};

Result<std::string> Authority::Parts::Sign(EVP_PKEY& subject_key,
                                           const IssueOptions& options) const {
  CARILLON_TRY(CheckNames(options));
  const Certificate issued = Unsigned({.common_name = options.common_name,
                                       .key = subject_key,
                                       .from = options.from,
                                       .until = options.until});
  Must(X509_set_issuer_name(issued.get(), X509_get_subject_name(issuer.get())) == 1,
       "X509_set_issuer_name");
  CARILLON_TRY(AddExtension(*issued, *issuer, NID_basic_constraints, "critical,CA:FALSE"));
  CARILLON_TRY(AddExtension(*issued, *issuer, NID_key_usage, "critical,digitalSignature"));
  CARILLON_TRY(AddExtension(*issued, *issuer, NID_ext_key_usage, UsageOf(options.purpose)));
  CARILLON_TRY(AddExtension(*issued, *issuer, NID_subject_key_identifier, "hash"));
  CARILLON_TRY(AddExtension(*issued, *issuer, NID_authority_key_identifier, "keyid:always"));
  CARILLON_TRY(AddExtension(*issued, *issuer, NID_subject_alt_name, AlternativeNames(options)));
  Must(X509_sign(issued.get(), signing.get(), EVP_sha256()) > 0, "X509_sign");
  return CertificateText(*issued);
}

Authority::Authority(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Authority::Authority(Authority&&) noexcept = default;
Authority& Authority::operator=(Authority&&) noexcept = default;
Authority::~Authority() = default;

Authority Authority::Create(const std::string& common_name, const Life& life) {
  const Key key = MakeKey();
  const Certificate own =
      Unsigned({.common_name = common_name, .key = *key, .from = life.from, .until = life.until});
  Must(X509_set_issuer_name(own.get(), X509_get_subject_name(own.get())) == 1,
       "X509_set_issuer_name");
  for (const auto& [id, value] : {std::pair(NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                                  std::pair(NID_key_usage, "critical,keyCertSign,cRLSign"),
                                  std::pair(NID_subject_key_identifier, "hash")}) {
    const Status added = AddExtension(*own, *own, id, value);
    CARILLON_CHECK(added.ok(), added.error().message);
  }
  Must(X509_sign(own.get(), key.get(), EVP_sha256()) > 0, "X509_sign");
  auto loaded = Load(CertificateText(*own), KeyText(*key));
  CARILLON_CHECK(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

Result<Authority> Authority::Load(const std::string& certificate, const std::string& key) {
  CARILLON_TRY(CheckPair(certificate, key));
  auto parts = std::make_unique<Parts>();
  CARILLON_ASSIGN_OR_RETURN(parts->issuer, ReadCertificate(certificate));
  CARILLON_ASSIGN_OR_RETURN(parts->signing, ReadKey(key));
  if (!MaySign(*parts->issuer)) {
    return Error{ErrorCode::kInvalid, "the certificate is not one of an authority"};
  }
  parts->certificate = CertificateText(*parts->issuer);
  parts->key = key;
  parts->fingerprint = FingerprintOf(*parts->issuer);
  return Authority(std::move(parts));
}

const std::string& Authority::certificate() const { return parts_->certificate; }
const std::string& Authority::key() const { return parts_->key; }
const std::string& Authority::fingerprint() const { return parts_->fingerprint; }

Result<std::string> Authority::Issue(const std::string& request,
                                     const IssueOptions& options) const {
  CARILLON_ASSIGN_OR_RETURN(const Request parsed, ReadRequest(request));
  EVP_PKEY* const key = X509_REQ_get0_pubkey(parsed.get());
  if (key == nullptr || X509_REQ_verify(parsed.get(), key) != 1) {
    return OpensslError("the request is not signed by its own key");
  }
  const std::string asked = CommonName(X509_REQ_get_subject_name(parsed.get()));
  if (asked != options.common_name) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("the request is for '{}', not for '{}'", asked, options.common_name)};
  }
  return parts_->Sign(*key, options);
}

Result<std::string> Authority::IssueFor(const std::string& key, const IssueOptions& options) const {
  CARILLON_ASSIGN_OR_RETURN(const Key parsed, ReadKey(key));
  return parts_->Sign(*parsed, options);
}

}  // namespace carillon::tls
