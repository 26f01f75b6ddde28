//! Reviewed requests as constraints match them and as templates read them.

use solon::Value;

use super::selector::LabelMap;
use crate::api::admission::review::Review;

/// An object of a request: the object itself, or the one before the change.
#[derive(Debug)]
pub struct Subject<'a> {
    /// API group of the kind, which is empty for the core group.
    pub group: &'a str,
    pub kind: &'a str,
    /// Name, which may be empty for an object that is created.
    pub name: &'a str,
    /// Prefix of the name that the API server generates.
    pub generate_name: &'a str,
    /// Namespace that contains the object, if there is one.
    pub namespace: Option<&'a str>,
    metadata: Option<&'a Value>,
}

impl<'a> Subject<'a> {
    /// Returns `true` if the object is a namespace, by group and kind.
    pub fn is_namespace(&self) -> bool {
        self.group.is_empty() && self.kind == "Namespace"
    }

    /// Returns the namespace that rules for namespaces compare: of a namespace itself its name, `None` for other objects of
    /// the cluster.
    pub fn compared_namespace(&self) -> Option<&'a str> {
        if self.is_namespace() {
            Some(self.name)
        } else {
            self.namespace
        }
    }

    /// Returns the labels.
    ///
    /// # Errors
    /// They are not an object of strings.
    pub fn labels(&self) -> Result<LabelMap<'a>, String> {
        let labels = self.metadata.and_then(|metadata| metadata.get("labels"));
        read_labels(labels)
    }
}

/// Reads the labels of an object. `labels` is its member, if it has one.
fn read_labels(labels: Option<&Value>) -> Result<LabelMap<'_>, String> {
    let Some(labels) = labels.filter(|labels| !labels.is_null()) else {
        return Ok(LabelMap::new());
    };
    let object = labels.as_object();
    let pairs = object.map(|object| {
        let pairs = object.iter();
        let pairs = pairs.map(|(name, value)| Some((name.as_str()?, value.as_str()?)));
        pairs.collect::<Option<LabelMap<'_>>>()
    });
    let labels = pairs.flatten();
    labels.ok_or_else(|| "`metadata.labels` must be an object of strings".to_owned())
}

#[derive(Clone, Copy, Debug)]
pub struct NamespaceObject<'d>(&'d Value);

impl<'d> NamespaceObject<'d> {
    /// Finds a namespace in the documents: in the inventory, or where kube-mgmt replicates namespaces. Returns `None` if
    /// neither has it.
    pub fn find(documents: &'d Value, name: &str) -> Option<Self> {
        let at = |path: &[&str]| {
            let mut path = path.iter();
            path.try_fold(documents, |document, step| document.get(step))
        };
        let found = at(&["inventory", "cluster", "v1", "Namespace", name]);
        let found = found.or_else(|| at(&["kubernetes", "namespaces", name]));
        found.map(NamespaceObject)
    }

    /// Returns the labels; none if they are missing.
    ///
    /// # Errors
    /// They are not an object of strings.
    pub fn labels(self) -> Result<LabelMap<'d>, String> {
        let metadata = self.0.get("metadata");
        read_labels(metadata.and_then(|metadata| metadata.get("labels")))
            .map_err(|problem| format!("namespace: {problem}"))
    }
}

#[derive(Debug)]
pub struct ReviewedRequest<'a> {
    request: &'a Value,
    /// The object and the object before the change, as far as the request has them.
    pub subjects: Vec<Subject<'a>>,
    /// Object that templates read as `input.review.object`, if it differs from that of the request.
    replaced_object: Option<&'a Value>,
}

impl<'a> ReviewedRequest<'a> {
    /// Reads the request of a review.
    ///
    /// # Errors
    /// It has no kind, no object that could be checked, or members of other types.
    pub fn from_review(review: &Review<'a>) -> Result<Self, String> {
        let request = review.request;
        let kind = request.get("kind");
        let of_kind = |name: &str| kind.and_then(|kind| kind.get(name)?.as_str());
        let object_kind = of_kind("kind").filter(|kind| !kind.is_empty());
        let object_kind = object_kind.ok_or("`request.kind.kind` must be a non-empty string")?;
        let object = |name: &str| match request.get(name) {
            Some(value) if value.as_object().is_some() => Ok(Some(value)),
            Some(value) if !value.is_null() => Err(format!("`request.{name}` must be an object")),
            _ => Ok(None),
        };
        let (new, old) = (object("object")?, object("oldObject")?);
        let replaced_object = if review.is_delete() {
            Some(old.ok_or("`request.oldObject` of a deletion must be an object")?)
        } else {
            None
        };
        let text = |name: &str| request.get(name).and_then(Value::as_str);
        let subject = |object: &'a Value| {
            let metadata = object.get("metadata");
            let member = |name: &str| metadata.and_then(|metadata| metadata.get(name)?.as_str());
            let is_some = |text: &&str| !text.is_empty();
            let subject = Subject {
                group: of_kind("group").unwrap_or_default(),
                kind: object_kind,
                name: member("name").or(text("name")).unwrap_or_default(),
                generate_name: member("generateName").unwrap_or_default(),
                namespace: text("namespace")
                    .filter(is_some)
                    .or(member("namespace").filter(is_some)),
                metadata,
            };
            // requests for namespaces have the name as their namespace
            let is_inside = !subject.is_namespace();
            Subject {
                namespace: subject.namespace.filter(|_| is_inside),
                ..subject
            }
        };
        let subjects: Vec<_> = [new.or(replaced_object), old]
            .into_iter()
            .flatten()
            .map(subject)
            .collect();
        if subjects.is_empty() {
            return Err("`request.object` or `request.oldObject` must be an object".to_owned());
        }
        Ok(Self {
            request,
            subjects,
            replaced_object,
        })
    }

    /// Returns the name of the namespace that contains the objects, if there is one.
    pub fn namespace(&self) -> Option<&'a str> {
        self.subjects.iter().find_map(|subject| subject.namespace)
    }

    /// Returns the document that templates read as `input.review`: the request with `namespaceObject`, and with the deleted
    /// object as `object`.
    pub fn document(&self, namespace: Option<NamespaceObject<'_>>) -> Value {
        let members = self.request.as_object().into_iter();
        let members = members.flat_map(|request| request.iter());
        let mut members: Vec<(Value, Value)> = members
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        // as in Gatekeeper, a namespace is in none
        if self.subjects.iter().any(Subject::is_namespace) {
            members.retain(|(name, _)| name.as_str() != Some("namespace"));
        }
        // the last of pairs with equal keys wins
        if let Some(object) = self.replaced_object {
            members.push(("object".into(), object.clone()));
        }
        let namespace = namespace.map(|namespace| namespace.0.clone());
        let namespace = namespace.unwrap_or_else(|| Value::object(Vec::new()));
        members.push(("namespaceObject".into(), namespace));
        Value::object(members)
    }
}
