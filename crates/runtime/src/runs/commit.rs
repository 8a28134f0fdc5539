//! Commits of decisions about runs.

use riverrun_store::{Change, Commit, Receipt, Then};

use super::{Runs, cache::News};

impl Runs {
    /// Writes a decision about a run. The cache has the durable state before the hub publishes it,
    /// and before jobs that begin at once read it.
    pub(super) async fn commit(
        &self,
        commit: Commit,
        news: Option<News>,
    ) -> riverrun_store::Result<Receipt> {
        let fresh = news.as_ref().filter(|news| news.is_fresh);
        let mut has_jobs = false;
        for change in &commit.changes {
            match change {
                // The cache may still hold an earlier, deleted run of this id.
                Change::Create(new) if fresh.is_none_or(|fresh| fresh.run != new.id) => {
                    self.cache().forget(&new.id);
                }
                Change::Enqueue(_) => has_jobs = true,
                _ => {}
            }
        }
        let then = news.map(|news| {
            let runs = self.clone();
            move |receipt: &Receipt| runs.learn(news, receipt)
        });
        match has_jobs {
            true => self.dispatcher().commit(commit, then).await,
            false => {
                let then = then.map(|then| Box::new(then) as Then);
                self.base().commit_then(commit, then).await
            }
        }
    }

    /// The state of a run after a commit, once it is durable.
    fn learn(&self, news: News, receipt: &Receipt) {
        let read = news.reader.map(|reader| (news.run.clone(), reader));
        self.cache().learn(news, receipt);
        // Before jobs begin: a job that ends at once then need not wait for a reader that has
        // nothing left to do here.
        if let Some((run, reader)) = read {
            self.mailboxes().leave(&run, reader);
        }
    }
}
