//! The server: the protocol by the official library, each call on a thread of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value as Json;

use crate::tool::{Cancellation, Tools};

/// How often a client that asked for it hears how long a call has been running.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// Threads for calls and for the two streams.
const MAX_THREADS: usize = 16;

/// Why a client cannot be served any longer.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The runtime does not start.
    #[error("cannot start the server")]
    Runtime(#[from] std::io::Error),
    /// The client does not speak the protocol.
    #[error("the client does not speak the Model Context Protocol: {0}")]
    Protocol(String),
}

/// Serves one client on standard input and output until it goes away. Calls that still run are then cancelled, and
/// waited for.
///
/// # Errors
///
/// When the client does not speak the protocol.
pub fn serve(
    tools: impl Tools,
    name: &str,
    version: &str,
    instructions: &str,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_THREADS)
        .build()?;
    let config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_server_info(Implementation::new(name, version))
        .with_instructions(instructions);
    let server = Server {
        tools: Arc::new(tools),
        config,
    };
    let protocol = |error: &dyn std::fmt::Display| ServeError::Protocol(error.to_string());
    runtime.block_on(async {
        let service = server.serve(rmcp::transport::stdio()).await;
        let service = service.map_err(|error| protocol(&error))?;
        service.waiting().await.map_err(|error| protocol(&error))?;
        Ok(())
    })
    // The end of the runtime drops the calls, which cancels them, and waits for their threads.
}

struct Server<T> {
    tools: Arc<T>,
    config: ServerConfig,
}

impl<T: Tools> ServerHandler for Server<T> {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.list().into_iter().map(|tool| {
            let schema = match tool.arguments {
                Json::Object(schema) => schema,
                _ => serde_json::Map::new(),
            };
            let hints = ToolAnnotations::new()
                .read_only(tool.is_read_only)
                .destructive(!tool.is_read_only)
                .open_world(false);
            rmcp::model::Tool::new(tool.name, tool.description, Arc::new(schema))
                .with_annotations(hints)
        });
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tools = Arc::clone(&self.tools);
        let cancellation = CancelOnDrop(Cancellation::default());
        let for_call = cancellation.0.clone();
        let arguments = request.arguments.unwrap_or_default();
        let name = request.name;
        let mut call = tokio::task::spawn_blocking(move || tools.call(&name, arguments, &for_call));
        let token = context.meta.get_progress_token();
        let started = Instant::now();
        let answer = loop {
            tokio::select! {
                answer = &mut call => break answer,
                () = context.ct.cancelled() => {
                    cancellation.0.cancel();
                    break (&mut call).await;
                }
                () = tokio::time::sleep(PROGRESS_INTERVAL) => {
                    report_progress(&context.peer, token.as_ref(), started.elapsed()).await;
                }
            }
        };
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]).into(),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]).into(),
        })
    }
}

async fn report_progress(peer: &Peer<RoleServer>, token: Option<&ProgressToken>, for_: Duration) {
    if let Some(token) = token {
        let seconds = for_.as_secs_f64().round();
        let progress = ProgressNotificationParam::new(token.clone(), seconds)
            .with_message(format!("running for {seconds} s"));
        // A client that is gone ends the server elsewhere.
        let _ = peer.notify_progress(progress).await;
    }
}

/// A call whose answer nobody waits for any more is cancelled.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
