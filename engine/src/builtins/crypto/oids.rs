//! Object identifiers by name: the content of each in DER.

use const_oid::ObjectIdentifier;
use const_oid::db::{rfc5280, rfc5912, rfc8410};

/// What has no name in the tables of the crate.
macro_rules! unnamed {
    ($($(#[$what:meta])* $name:ident = $dotted:literal;)*) => {
        $($(#[$what])* pub const $name: &[u8] = {
            const OID: ObjectIdentifier = ObjectIdentifier::new_unwrap($dotted);
            OID.as_bytes()
        };)*
    };
}

macro_rules! named {
    ($($(#[$what:meta])* $name:ident = $oid:path;)*) => {
        $($(#[$what])* pub const $name: &[u8] = $oid.as_bytes();)*
    };
}

named! {
    /// Keys of RSA.
    RSA = rfc5912::RSA_ENCRYPTION;
    /// Keys of DSA.
    DSA = rfc5912::ID_DSA;
    /// Keys on elliptic curves.
    EC = rfc5912::ID_EC_PUBLIC_KEY;
    /// Keys of Ed25519, and signatures by them.
    ED25519 = rfc8410::ID_ED_25519;
    /// Keys of X25519.
    X25519 = rfc8410::ID_X_25519;

    /// The curve P-224.
    P224 = rfc5912::SECP_224_R_1;
    /// The curve P-256.
    P256 = rfc5912::SECP_256_R_1;
    /// The curve P-384.
    P384 = rfc5912::SECP_384_R_1;
    /// The curve P-521.
    P521 = rfc5912::SECP_521_R_1;

    /// SHA-256
    SHA256 = rfc5912::ID_SHA_256;
    /// SHA-384
    SHA384 = rfc5912::ID_SHA_384;
    /// SHA-512
    SHA512 = rfc5912::ID_SHA_512;
    /// The mask generation of PSS.
    MGF1 = rfc5912::ID_MGF_1;

    /// Signatures by RSA with MD5.
    RSA_MD5 = rfc5912::MD_5_WITH_RSA_ENCRYPTION;
    /// Signatures by RSA with SHA-1.
    RSA_SHA1 = rfc5912::SHA_1_WITH_RSA_ENCRYPTION;
    /// Signatures by RSA with SHA-256.
    RSA_SHA256 = rfc5912::SHA_256_WITH_RSA_ENCRYPTION;
    /// Signatures by RSA with SHA-384.
    RSA_SHA384 = rfc5912::SHA_384_WITH_RSA_ENCRYPTION;
    /// Signatures by RSA with SHA-512.
    RSA_SHA512 = rfc5912::SHA_512_WITH_RSA_ENCRYPTION;
    /// Signatures by RSA with PSS; the parameters tell the hash function.
    RSA_PSS = rfc5912::ID_RSASSA_PSS;
    /// Signatures by DSA with SHA-1.
    DSA_SHA1 = rfc5912::DSA_WITH_SHA_1;
    /// Signatures by DSA with SHA-256.
    DSA_SHA256 = rfc5912::DSA_WITH_SHA_256;
    /// Signatures on curves with SHA-256.
    ECDSA_SHA256 = rfc5912::ECDSA_WITH_SHA_256;
    /// Signatures on curves with SHA-384.
    ECDSA_SHA384 = rfc5912::ECDSA_WITH_SHA_384;
    /// Signatures on curves with SHA-512.
    ECDSA_SHA512 = rfc5912::ECDSA_WITH_SHA_512;

    /// The attribute of requests that holds extensions.
    EXTENSION_REQUEST = rfc5912::ID_EXTENSION_REQ;

    /// The name of the subject's key.
    SUBJECT_KEY = rfc5280::ID_CE_SUBJECT_KEY_IDENTIFIER;
    /// What the key may be used for.
    KEY_USAGE = rfc5280::ID_CE_KEY_USAGE;
    /// Other names of the subject.
    SUBJECT_NAMES = rfc5280::ID_CE_SUBJECT_ALT_NAME;
    /// Whether the subject is an authority.
    BASIC_CONSTRAINTS = rfc5280::ID_CE_BASIC_CONSTRAINTS;
    /// What names it may certify.
    NAME_CONSTRAINTS = rfc5280::ID_CE_NAME_CONSTRAINTS;
    /// Where lists of revoked certificates are.
    REVOCATION_LISTS = rfc5280::ID_CE_CRL_DISTRIBUTION_POINTS;
    /// Policies.
    POLICIES = rfc5280::ID_CE_CERTIFICATE_POLICIES;
    /// What policies are called by the subject.
    POLICY_MAPPINGS = rfc5280::ID_CE_POLICY_MAPPINGS;
    /// The name of the key that signed.
    AUTHORITY_KEY = rfc5280::ID_CE_AUTHORITY_KEY_IDENTIFIER;
    /// Where policies are needed.
    POLICY_CONSTRAINTS = rfc5280::ID_CE_POLICY_CONSTRAINTS;
    /// Uses by object identifier.
    EXTENDED_USAGE = rfc5280::ID_CE_EXT_KEY_USAGE;
    /// Where the policy that stands for all does not.
    INHIBIT_ANY_POLICY = rfc5280::ID_CE_INHIBIT_ANY_POLICY;
    /// Where to ask about the issuer.
    AUTHORITY_ACCESS = rfc5280::ID_PE_AUTHORITY_INFO_ACCESS;
    /// Of those, servers that tell about revocation.
    STATUS_SERVER = rfc5280::ID_AD_OCSP;
    /// Of those, the issuer's certificate.
    ISSUER = rfc5280::ID_AD_CA_ISSUERS;
    /// The policy that stands for all.
    ANY_POLICY = rfc5280::ANY_POLICY;

    /// Any use.
    USE_ANY = rfc5280::ANY_EXTENDED_KEY_USAGE;
    /// Servers of TLS.
    USE_SERVER = rfc5280::ID_KP_SERVER_AUTH;
    /// Clients of TLS.
    USE_CLIENT = rfc5280::ID_KP_CLIENT_AUTH;
    /// Signatures of code.
    USE_CODE = rfc5280::ID_KP_CODE_SIGNING;
    /// Mail.
    USE_MAIL = rfc5280::ID_KP_EMAIL_PROTECTION;
    /// Time stamps.
    USE_TIME = rfc5280::ID_KP_TIME_STAMPING;
    /// Answers about revocation.
    USE_STATUS = rfc5280::ID_KP_OCSP_SIGNING;
}

unnamed! {
    /// Signatures by RSA with SHA-1, in the words of ISO.
    RSA_SHA1_ISO = "1.3.14.3.2.29";
    /// Signatures on curves with SHA-1.
    ECDSA_SHA1 = "1.2.840.10045.4.1";
    /// Ends of `IPsec`.
    USE_IPSEC_END = "1.3.6.1.5.5.7.3.5";
    /// Tunnels of `IPsec`.
    USE_IPSEC_TUNNEL = "1.3.6.1.5.5.7.3.6";
    /// Users of `IPsec`.
    USE_IPSEC_USER = "1.3.6.1.5.5.7.3.7";
    /// Stronger ciphers, at Microsoft.
    USE_MICROSOFT_GATED = "1.3.6.1.4.1.311.10.3.3";
    /// Stronger ciphers, at Netscape.
    USE_NETSCAPE_GATED = "2.16.840.1.113730.4.1";
    /// Commercial code, at Microsoft.
    USE_MICROSOFT_CODE = "1.3.6.1.4.1.311.2.1.22";
    /// Code of the kernel, at Microsoft.
    USE_MICROSOFT_KERNEL = "1.3.6.1.4.1.311.61.1.1";
}
