//! The real effects behind `Host`.
