//! Named object identifiers: the DER content of each.

use const_oid::ObjectIdentifier;
use const_oid::db::{rfc5280, rfc5912, rfc8410};

/// Defines object identifiers that the crate's tables do not contain.
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
    RSA = rfc5912::RSA_ENCRYPTION;
    DSA = rfc5912::ID_DSA;
    EC = rfc5912::ID_EC_PUBLIC_KEY;
    /// Ed25519 keys and signatures.
    ED25519 = rfc8410::ID_ED_25519;
    X25519 = rfc8410::ID_X_25519;

    P224 = rfc5912::SECP_224_R_1;
    P256 = rfc5912::SECP_256_R_1;
    P384 = rfc5912::SECP_384_R_1;
    P521 = rfc5912::SECP_521_R_1;

    SHA256 = rfc5912::ID_SHA_256;
    SHA384 = rfc5912::ID_SHA_384;
    SHA512 = rfc5912::ID_SHA_512;
    /// Mask generation function of PSS.
    MGF1 = rfc5912::ID_MGF_1;

    RSA_MD5 = rfc5912::MD_5_WITH_RSA_ENCRYPTION;
    RSA_SHA1 = rfc5912::SHA_1_WITH_RSA_ENCRYPTION;
    RSA_SHA256 = rfc5912::SHA_256_WITH_RSA_ENCRYPTION;
    RSA_SHA384 = rfc5912::SHA_384_WITH_RSA_ENCRYPTION;
    RSA_SHA512 = rfc5912::SHA_512_WITH_RSA_ENCRYPTION;
    /// RSA PSS signatures. The parameters contain the hash function.
    RSA_PSS = rfc5912::ID_RSASSA_PSS;
    DSA_SHA1 = rfc5912::DSA_WITH_SHA_1;
    DSA_SHA256 = rfc5912::DSA_WITH_SHA_256;
    ECDSA_SHA256 = rfc5912::ECDSA_WITH_SHA_256;
    ECDSA_SHA384 = rfc5912::ECDSA_WITH_SHA_384;
    ECDSA_SHA512 = rfc5912::ECDSA_WITH_SHA_512;

    /// Attribute of certificate requests that contains extensions.
    EXTENSION_REQUEST = rfc5912::ID_EXTENSION_REQ;

    SUBJECT_KEY = rfc5280::ID_CE_SUBJECT_KEY_IDENTIFIER;
    KEY_USAGE = rfc5280::ID_CE_KEY_USAGE;
    SUBJECT_NAMES = rfc5280::ID_CE_SUBJECT_ALT_NAME;
    BASIC_CONSTRAINTS = rfc5280::ID_CE_BASIC_CONSTRAINTS;
    NAME_CONSTRAINTS = rfc5280::ID_CE_NAME_CONSTRAINTS;
    REVOCATION_LISTS = rfc5280::ID_CE_CRL_DISTRIBUTION_POINTS;
    POLICIES = rfc5280::ID_CE_CERTIFICATE_POLICIES;
    POLICY_MAPPINGS = rfc5280::ID_CE_POLICY_MAPPINGS;
    AUTHORITY_KEY = rfc5280::ID_CE_AUTHORITY_KEY_IDENTIFIER;
    POLICY_CONSTRAINTS = rfc5280::ID_CE_POLICY_CONSTRAINTS;
    EXTENDED_USAGE = rfc5280::ID_CE_EXT_KEY_USAGE;
    INHIBIT_ANY_POLICY = rfc5280::ID_CE_INHIBIT_ANY_POLICY;
    AUTHORITY_ACCESS = rfc5280::ID_PE_AUTHORITY_INFO_ACCESS;
    /// Access method of OCSP servers.
    STATUS_SERVER = rfc5280::ID_AD_OCSP;
    /// Access method of the issuer's certificate.
    ISSUER = rfc5280::ID_AD_CA_ISSUERS;
    ANY_POLICY = rfc5280::ANY_POLICY;

    USE_ANY = rfc5280::ANY_EXTENDED_KEY_USAGE;
    USE_SERVER = rfc5280::ID_KP_SERVER_AUTH;
    USE_CLIENT = rfc5280::ID_KP_CLIENT_AUTH;
    USE_CODE = rfc5280::ID_KP_CODE_SIGNING;
    USE_MAIL = rfc5280::ID_KP_EMAIL_PROTECTION;
    USE_TIME = rfc5280::ID_KP_TIME_STAMPING;
    USE_STATUS = rfc5280::ID_KP_OCSP_SIGNING;
}

unnamed! {
    /// RSA signatures with SHA-1, by their ISO identifier.
    RSA_SHA1_ISO = "1.3.14.3.2.29";
    ECDSA_SHA1 = "1.2.840.10045.4.1";
    /// `IPsec` end systems.
    USE_IPSEC_END = "1.3.6.1.5.5.7.3.5";
    /// `IPsec` tunnels.
    USE_IPSEC_TUNNEL = "1.3.6.1.5.5.7.3.6";
    /// `IPsec` users.
    USE_IPSEC_USER = "1.3.6.1.5.5.7.3.7";
    /// Microsoft server gated cryptography.
    USE_MICROSOFT_GATED = "1.3.6.1.4.1.311.10.3.3";
    /// Netscape server gated cryptography.
    USE_NETSCAPE_GATED = "2.16.840.1.113730.4.1";
    /// Microsoft commercial code signing.
    USE_MICROSOFT_CODE = "1.3.6.1.4.1.311.2.1.22";
    /// Microsoft kernel code signing.
    USE_MICROSOFT_KERNEL = "1.3.6.1.4.1.311.61.1.1";
}
