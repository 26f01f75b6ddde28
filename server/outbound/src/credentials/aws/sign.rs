//! The signature of a request, by the signer of AWS.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
    UriPathNormalizationMode, sign as sign_request,
};
use aws_sigv4::sign::v4::SigningParams;
use bytes::Bytes;
use http::Request;
use http::header::{CONTENT_LENGTH, HOST, PROXY_AUTHORIZATION, USER_AGENT};

use super::AwsKeys;
use crate::credentials::endpoint::failed;
use crate::error::Error;

/// Adds the signature of a request whose URL is absolute, and the headers that belong to it.
///
/// # Errors
/// A header is not text, or the URL has no host.
pub fn sign(
    request: &mut Request<Bytes>,
    keys: &AwsKeys,
    service: &str,
    time: SystemTime,
) -> Result<(), Error> {
    let token = keys.token.as_ref().map(|token| token.expose().to_owned());
    let credentials = Credentials::new(&keys.id, keys.secret.expose(), token, None, "solon");
    let identity = credentials.into();
    let mut settings = SigningSettings::default();
    if service == "s3" {
        // S3 signs object keys without a second encoding
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    let parameters = SigningParams::builder()
        .identity(&identity)
        .region(&keys.region)
        .name(service)
        .time(time)
        .settings(settings)
        .build()
        .map_err(|error| failed(format!("AWS signature: {error}")))?
        .into();
    // headers that this client or a proxy changes later are not signed
    let unsigned = [CONTENT_LENGTH, HOST, PROXY_AUTHORIZATION, USER_AGENT];
    let mut headers = Vec::new();
    for (name, value) in request.headers() {
        if !unsigned.contains(name) {
            let value = std::str::from_utf8(value.as_bytes())
                .map_err(|_| failed(format!("AWS signature: header `{name}` is not UTF-8")))?;
            headers.push((name.as_str(), value));
        }
    }
    let signable = SignableRequest::new(
        request.method().as_str(),
        request.uri().to_string(),
        headers.into_iter(),
        SignableBody::Bytes(request.body()),
    );
    let signable = signable.map_err(|error| failed(format!("AWS signature: {error}")))?;
    let signed = sign_request(signable, &parameters);
    let signed = signed.map_err(|error| failed(format!("AWS signature: {error}")))?;
    let (instructions, _) = signed.into_parts();
    instructions.apply_to_request_http1x(request);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use bytes::Bytes;
    use http::Request;

    use super::{AwsKeys, sign};

    /// A request of AWS's documents: method, URL, headers, body, and the signature of it.
    type Vector = (
        &'static str,
        &'static str,
        &'static [(&'static str, &'static str)],
        &'static str,
        &'static str,
    );

    fn check(vectors: &[Vector], keys: &AwsKeys, service: &str, seconds: u64) {
        for (method, url, headers, body, expected) in vectors {
            let mut request = Request::builder().method(*method).uri(*url);
            for (name, value) in *headers {
                request = request.header(*name, *value);
            }
            let mut request = request.body(Bytes::from_static(body.as_bytes())).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            sign(&mut request, keys, service, time).unwrap();
            let signature = request.headers()["authorization"].to_str().unwrap();
            assert!(
                signature.ends_with(&format!("Signature={expected}")),
                "{method} {url}: {signature}"
            );
        }
    }

    /// "Signature calculations for the Authorization header", examples of the Amazon S3 API reference.
    #[test]
    fn examples_of_s3() {
        let keys = AwsKeys {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            token: None,
            region: "us-east-1".to_owned(),
        };
        let vectors: [Vector; 4] = [
            (
                "GET",
                "https://examplebucket.s3.amazonaws.com/test.txt",
                &[("Range", "bytes=0-9")],
                "",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            ),
            (
                "PUT",
                "https://examplebucket.s3.amazonaws.com/test%24file.text",
                &[
                    ("Date", "Fri, 24 May 2013 00:00:00 GMT"),
                    ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                ],
                "Welcome to Amazon S3.",
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
            ),
            (
                "GET",
                "https://examplebucket.s3.amazonaws.com/?lifecycle",
                &[],
                "",
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
            ),
            (
                "GET",
                "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J",
                &[],
                "",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            ),
        ];
        // 24 May 2013, 00:00 UTC
        check(&vectors, &keys, "s3", 1_369_353_600);
    }

    /// Requests of the test suite of version 4.
    #[test]
    fn vectors_of_the_test_suite() {
        let keys = AwsKeys {
            id: "AKIDEXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            token: None,
            region: "us-east-1".to_owned(),
        };
        let vectors: [Vector; 4] = [
            // get-vanilla
            (
                "GET",
                "https://example.amazonaws.com/",
                &[],
                "",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            // get-vanilla-query-order-key-case
            (
                "GET",
                "https://example.amazonaws.com/?Param2=value2&Param1=value1",
                &[],
                "",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            // post-vanilla
            (
                "POST",
                "https://example.amazonaws.com/",
                &[],
                "",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            // post-x-www-form-urlencoded
            (
                "POST",
                "https://example.amazonaws.com/",
                &[("Content-Type", "application/x-www-form-urlencoded")],
                "Param1=value1",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ];
        // 30 August 2015, 12:36 UTC
        check(&vectors, &keys, "service", 1_440_938_160);
        let token = AwsKeys {
            token: Some("token".into()),
            ..keys
        };
        let mut request = Request::get("https://example.amazonaws.com/")
            .body(Bytes::new())
            .unwrap();
        sign(&mut request, &token, "service", SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(request.headers()["x-amz-security-token"], "token");
    }
}
