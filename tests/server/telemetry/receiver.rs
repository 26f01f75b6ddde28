//! A receiver of OTLP over HTTP or gRPC, which decodes the published messages.

use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{
    LogsService, LogsServiceServer,
};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value as Any};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use crate::sink::Sink;

/// Requests that a receiver got.
#[derive(Clone, Default)]
pub struct Received {
    pub traces: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    pub metrics: Arc<Mutex<Vec<ExportMetricsServiceRequest>>>,
    pub logs: Arc<Mutex<Vec<ExportLogsServiceRequest>>>,
    /// Number of log records that the next responses reject.
    pub rejected: Arc<Mutex<i64>>,
}

impl Received {
    /// Returns all spans as JSON.
    pub fn spans(&self) -> Vec<Value> {
        let traces = self.traces.lock().unwrap();
        traces.iter().flat_map(spans).collect()
    }

    /// Returns all log records.
    pub fn records(&self) -> Vec<LogRecord> {
        let logs = self.logs.lock().unwrap();
        let resources = logs.iter().flat_map(|request| &request.resource_logs);
        let scopes = resources.flat_map(|resource| &resource.scope_logs);
        scopes.flat_map(|scope| scope.log_records.clone()).collect()
    }

    /// Returns the events in the bodies of all log records.
    pub fn events(&self) -> Vec<Value> {
        let body = |record: LogRecord| match record.body.unwrap().value.unwrap() {
            Any::StringValue(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        };
        self.records().into_iter().map(body).collect()
    }
}

/// Returns the spans of a request.
pub fn spans(request: &ExportTraceServiceRequest) -> Vec<Value> {
    let resources = request.resource_spans.iter();
    let scopes = resources.flat_map(|resource| &resource.scope_spans);
    scopes.flat_map(|scope| &scope.spans).map(span).collect()
}

fn span(span: &Span) -> Value {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    json!({
        "name": span.name,
        "kind": span.kind().as_str_name(),
        "trace": hex(&span.trace_id),
        "id": hex(&span.span_id),
        "parent": hex(&span.parent_span_id),
        "state": span.trace_state,
        "is_error": span.status.as_ref().is_some_and(|status| status.code == 2),
        "attributes": attributes(&span.attributes),
    })
}

/// Returns attributes as a JSON object.
pub fn attributes(attributes: &[KeyValue]) -> Value {
    let mut object = Map::new();
    for attribute in attributes {
        let value = attribute.value.clone().and_then(|value| value.value);
        let value = match value.unwrap() {
            Any::StringValue(text) => text.into(),
            Any::IntValue(number) => number.into(),
            other => panic!("{other:?}"),
        };
        assert!(object.insert(attribute.key.clone(), value).is_none());
    }
    object.into()
}

/// Returns the requests that a sink received as a receiver over HTTP.
pub fn received(sink: &Sink) -> Received {
    let received = Received::default();
    for upload in sink.uploads() {
        if upload.status >= 300 {
            continue;
        }
        assert_eq!(
            upload.header("content-type"),
            Some("application/x-protobuf")
        );
        if upload.line == "POST /v1/logs HTTP/1.1" {
            let request = ExportLogsServiceRequest::decode(&*upload.body).unwrap();
            received.logs.lock().unwrap().push(request);
        } else if upload.line == "POST /v1/traces HTTP/1.1" {
            let request = ExportTraceServiceRequest::decode(&*upload.body).unwrap();
            received.traces.lock().unwrap().push(request);
        } else {
            assert_eq!(upload.line, "POST /v1/metrics HTTP/1.1");
            let request = ExportMetricsServiceRequest::decode(&*upload.body).unwrap();
            received.metrics.lock().unwrap().push(request);
        }
    }
    received
}

/// A receiver over gRPC.
pub struct GrpcReceiver {
    pub address: String,
    pub received: Received,
    _runtime: Runtime,
}

impl GrpcReceiver {
    pub fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let received = Received::default();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = Server::builder()
            .add_service(TraceServiceServer::new(received.clone()))
            .add_service(MetricsServiceServer::new(received.clone()))
            .add_service(LogsServiceServer::new(received.clone()));
        let incoming = tonic::transport::server::TcpIncoming::from(listener);
        runtime.spawn(server.serve_with_incoming(incoming));
        Self {
            address,
            received,
            _runtime: runtime,
        }
    }
}

#[tonic::async_trait]
impl TraceService for Received {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.traces.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl LogsService for Received {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        self.logs.lock().unwrap().push(request.into_inner());
        let rejected_log_records = *self.rejected.lock().unwrap();
        Ok(Response::new(ExportLogsServiceResponse {
            partial_success: Some(ExportLogsPartialSuccess {
                rejected_log_records,
                error_message: "quota".to_owned(),
            }),
        }))
    }
}

#[tonic::async_trait]
impl MetricsService for Received {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.metrics.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}
