//! Inputs and data of everyday policies: requests, tokens, routes, addresses.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::digest::common::KeyInit;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::{Random, array};

const SECRET: &str = "a secret of thirty-two characters";

const WORDS: [&str; 8] = [
    "orders", "users", "invoices", "carts", "reports", "teams", "items", "keys",
];

/// Review of a pod with the given number of containers, each of about two kilobytes.
pub fn admission(containers: usize) -> String {
    let mut random = Random::new(21);
    let containers = array(containers, |at| container(at, &mut random));
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"0df28fbd-5f5f-11e8-bc74-36e6bb280816","kind":{{"group":"","version":"v1","kind":"Pod"}},"operation":"CREATE","userInfo":{{"username":"deployer","groups":["system:authenticated","dev"]}},"object":{{"metadata":{{"name":"shop","namespace":"web","labels":{{"app":"shop","tier":"front"}}}},"spec":{{"hostNetwork":false,"volumes":[{{"name":"logs","hostPath":{{"path":"/var/log"}}}},{{"name":"cache","emptyDir":{{}}}}],"initContainers":[],"containers":{containers}}}}}}}}}"#
    )
}

fn container(at: usize, random: &mut Random) -> String {
    let registry = random.pick(&["registry.example.com", "mirror.example.com", "docker.io"]);
    let version = random.pick(&["1.4.2", "2.0.0", "latest"]);
    let (privileged, non_root) = (random.below(9) == 0, random.below(4) != 0);
    let capability = random.pick(&["NET_BIND_SERVICE", "CHOWN", "SYS_ADMIN"]);
    let memory = if random.below(5) == 0 {
        ""
    } else {
        r#","memory":"128Mi""#
    };
    let env = array(16, |number| {
        let name = random.pick(&["HOST", "PORT", "PATH", "DB_PASSWORD", "LEVEL", "ZONE"]);
        format!(r#"{{"name":"{name}_{number}","value":"value-{at}-{number}-xxxxxxxxxxxxxxxx"}}"#)
    });
    let mounts = array(2, |number| {
        let name = random.pick(&["logs", "cache"]);
        let read_only = random.below(2) == 0;
        format!(r#"{{"name":"{name}","mountPath":"/mnt/{number}","readOnly":{read_only}}}"#)
    });
    format!(
        r#"{{"name":"c{at}","image":"{registry}/shop/part{at}:{version}","securityContext":{{"privileged":{privileged},"runAsNonRoot":{non_root},"capabilities":{{"add":["{capability}"]}}}},"resources":{{"limits":{{"cpu":"500m"{memory}}},"requests":{{"cpu":"250m"}}}},"ports":[{{"containerPort":8080,"protocol":"TCP"}}],"env":{env},"volumeMounts":{mounts}}}"#
    )
}

/// Request with a signed token whose claims contain the given number of scopes. The last one is required.
pub fn call(scopes: usize) -> String {
    let last = scopes.saturating_sub(1);
    let scopes = array(scopes, |at| {
        if at == last {
            return "\"orders:write\"".to_owned();
        }
        format!("\"resource{at}:read\"")
    });
    let claims = format!(
        r#"{{"iss":"https://login.example.com","aud":"api","sub":"user-1","exp":1900000000,"scopes":{scopes}}}"#
    );
    let token = token(&claims);
    format!(
        r#"{{"method":"POST","path":"/v1/orders/17/lines","headers":{{"host":"api.example.com","user-agent":"curl/8.0","accept":"*/*","authorization":"Bearer {token}"}}}}"#
    )
}

/// Keys that the tokens are signed with.
pub fn keys(_: usize) -> String {
    format!(r#"{{"keys":{{"k1":"{SECRET}"}}}}"#)
}

fn token(claims: &str) -> String {
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let header = r#"{"alg":"HS256","typ":"JWT","kid":"k1"}"#;
    let signed = format!(
        "{}.{}",
        encode(header.as_bytes()),
        encode(claims.as_bytes())
    );
    let signature = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).map(|mut mac| {
        mac.update(signed.as_bytes());
        encode(&mac.finalize().into_bytes())
    });
    format!("{signed}.{}", signature.unwrap_or_default())
}

/// Path patterns and the services that serve them. The last pattern is `/v1/last/*/items`.
pub fn routes(count: usize) -> String {
    let mut random = Random::new(22);
    let last = count.saturating_sub(1);
    let routes = array(count, |at| {
        let method = if at == last {
            "GET"
        } else {
            random.pick(&["GET", "POST", "PUT", "DELETE"])
        };
        let (place, word) = (random.pick(&WORDS), random.pick(&WORDS));
        let pattern = match at % 4 {
            _ if at == last => "/v1/last/*/items".to_owned(),
            0 => format!("/v1/{place}{at}/*"),
            1 => format!("/v1/{place}{at}/*/{word}"),
            2 => format!("/{{v1,v2}}/{place}{at}/**"),
            _ => format!("/v[0-9]/{place}{at}/*/{word}/*"),
        };
        format!(r#"{{"method":"{method}","pattern":"{pattern}","service":"service-{at}"}}"#)
    });
    format!(r#"{{"routes":{routes}}}"#)
}

/// Blocked networks, and some allowed ones. Only the last allowed network contains `10.9.8.7`.
pub fn networks(count: usize) -> String {
    let blocked = array(count, |at| {
        format!("\"172.{}.{}.0/24\"", 16 + at / 256 % 16, at % 256)
    });
    let allowed = array(count.div_ceil(10), |at| match at {
        0 => "\"192.168.0.0/16\"".to_owned(),
        _ => format!("\"10.{}.0.0/16\"", at % 9),
    });
    let allowed = format!("{},\"10.9.8.0/24\"]", allowed.trim_end_matches(']'));
    format!(r#"{{"blocked":{blocked},"allowed":{allowed}}}"#)
}

/// Regular expressions, of which one in ten matches `/svc/orders/12345`.
pub fn expressions(count: usize) -> String {
    let patterns = array(count, |at| match at % 10 {
        0 => format!("\"^/svc/[a-z]+/[0-9]{{5}}$|^never{at}$\""),
        1..5 => format!("\"^/svc{at}/[a-z]+/[0-9]+$\""),
        5..8 => format!("\"(?i)orders/{at}x[0-9a-f]*\""),
        _ => format!("\"^/(svc|api)/(users|carts{at})/.*\""),
    });
    format!(r#"{{"patterns":{patterns}}}"#)
}

/// Changes of a Terraform plan, each of about 700 bytes.
pub fn plan(resources: usize) -> String {
    let mut random = Random::new(23);
    let changes = array(resources, |at| {
        let kind = random.pick(&[
            "aws_instance",
            "aws_s3_bucket",
            "aws_security_group",
            "aws_autoscaling_group",
            "aws_iam_role",
        ]);
        let action = random.pick(&["create", "create", "update", "no-op", "delete"]);
        let stage = if random.below(10) == 0 {
            ""
        } else {
            r#","stage":"test""#
        };
        let port = random.pick(&["22", "80", "443", "5432"]);
        let network = random.pick(&["10.0.0.0/8", "0.0.0.0/0", "192.168.0.0/16"]);
        let size = random.pick(&["t3.small", "t3.large", "m5.large"]);
        let encrypted = match random.below(4) {
            0 => "null",
            _ => {
                r#"[{"rule":[{"apply_server_side_encryption_by_default":[{"sse_algorithm":"aws:kms"}]}]}]"#
            }
        };
        format!(
            r#"{{"address":"module.part{}.{kind}.item_{at}","mode":"managed","type":"{kind}","name":"item_{at}","provider_name":"registry.terraform.io/hashicorp/aws","change":{{"actions":["{action}"],"before":null,"after":{{"ami":"ami-0c55b159cbfafe1f0","instance_type":"{size}","monitoring":true,"availability_zone":"eu-central-1a","tags":{{"owner":"team-{}","cost_center":"{}"{stage}}},"ingress":[{{"from_port":{port},"to_port":{port},"protocol":"tcp","cidr_blocks":["{network}"]}}],"server_side_encryption_configuration":{encrypted}}},"after_unknown":{{"id":true,"arn":true,"private_ip":true}}}}}}"#,
            at % 12,
            at % 7,
            at % 31,
        )
    });
    format!(
        r#"{{"format_version":"1.2","terraform_version":"1.9.0","resource_changes":{changes}}}"#
    )
}
