//! Which cluster to ask, and how: istioctl's options, which its verbs all have. None is asked yet, so they change nothing.

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Typed {
    #[arg(long, hide = true)]
    context: Option<String>,
    #[arg(long, short = 'c', hide = true)]
    kubeconfig: Option<String>,
    #[arg(long = "as", hide = true)]
    as_user: Option<String>,
    #[arg(long, hide = true)]
    as_group: Vec<String>,
    #[arg(long, hide = true)]
    as_uid: Option<String>,
    #[arg(long, hide = true)]
    kubeclient_timeout: Option<String>,
    #[arg(long, hide = true)]
    vklog: Option<String>,
}
