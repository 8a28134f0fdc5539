//! One connection that receives server-sent events.

use std::collections::VecDeque;

use reqwest::{Method, RequestBuilder, Response};

use super::{
    Again, Client, Query,
    sse::{Message, Parser},
};
use crate::failure::Result;

pub struct Live {
    response: Response,
    parser: Parser,
    ready: VecDeque<Message>,
}

impl Live {
    fn new(response: Response) -> Self {
        Self {
            response,
            parser: Parser::default(),
            ready: VecDeque::new(),
        }
    }

    /// The id to come back with, which may have come without a message.
    pub fn last_id(&self) -> Option<&str> {
        self.parser.last_id()
    }

    /// The next message; none when the connection is over or broken. What has come already is not
    /// lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let piece = self.response.chunk().await.ok()??;
            self.ready.extend(self.parser.push(&piece));
        }
    }
}

impl Client {
    /// Opens a stream of events after the one that was seen last.
    pub async fn listen(&self, path: &[&str], query: &Query, after: Option<&str>) -> Result<Live> {
        let mut request = self.http.get(self.at(path, query));
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        self.open(request, Again::Safe).await
    }

    /// Asks for something whose answer is a stream.
    pub async fn post_live(&self, path: &[&str], body: String) -> Result<Live> {
        let request = self
            .http
            .request(Method::POST, self.at(path, &Vec::new()))
            .header("content-type", "application/json")
            .body(body);
        self.open(request, Again::Unsent).await
    }

    async fn open(&self, request: RequestBuilder, again: Again) -> Result<Live> {
        let request = request.header("accept", "text/event-stream");
        let response = self.dispatch(request, again).await?;
        Ok(Live::new(self.accepted(response).await?))
    }
}
