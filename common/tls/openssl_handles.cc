#include "common/tls/openssl_handles.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <climits>

namespace carillon::tls {
namespace {

Bio Reading(const std::string& pem) {
  CARILLON_CHECK(pem.size() < INT_MAX, "a PEM text");
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  CARILLON_CHECK(bio != nullptr, "BIO_new_mem_buf");
  return bio;
}

// Rejects keys with a pass phrase, instead of prompting on the terminal.
int NoPassPhrase(char*, int, int, void*) { return -1; }

// Returns the PEM text that `write` writes to a BIO.
template <typename Write>
std::string Written(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  CARILLON_CHECK(bio != nullptr && write(bio.get()) == 1, "writing PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace

Error OpensslError(std::string_view what) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return {ErrorCode::kInvalid, std::string(what) + ": " + text.data()};
}

Result<Key> ReadKey(const std::string& pem) {
  Key key(PEM_read_bio_PrivateKey(Reading(pem).get(), nullptr, &NoPassPhrase, nullptr));
  if (!key) return OpensslError("not a private key in PEM without a pass phrase");
  return key;
}

Result<Certificate> ReadCertificate(const std::string& pem) {
  Certificate certificate(PEM_read_bio_X509(Reading(pem).get(), nullptr, &NoPassPhrase, nullptr));
  if (!certificate) return OpensslError("not a certificate in PEM");
  return certificate;
}

Result<Request> ReadRequest(const std::string& pem) {
  Request request(PEM_read_bio_X509_REQ(Reading(pem).get(), nullptr, &NoPassPhrase, nullptr));
  if (!request) return OpensslError("not a certificate request in PEM");
  return request;
}

std::string KeyText(EVP_PKEY& key) {
  return Written([&key](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string CertificateText(X509& certificate) {
  return Written([&certificate](BIO* bio) { return PEM_write_bio_X509(bio, &certificate); });
}

std::string RequestText(X509_REQ& request) {
  return Written([&request](BIO* bio) { return PEM_write_bio_X509_REQ(bio, &request); });
}

std::string CommonName(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) return {};
  unsigned char* text = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
  if (size < 0) return {};
  std::string found(reinterpret_cast<char*>(text), static_cast<size_t>(size));
  OPENSSL_free(text);
  return found;
}

}  // namespace carillon::tls
