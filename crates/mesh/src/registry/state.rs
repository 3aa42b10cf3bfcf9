use super::{Parts, Workloads};
use crate::{Key, ServiceEndpoints, ServiceKey, Services, Settings, input};
use mizzen_api::Object;
use std::{collections::HashMap, sync::Arc};

#[derive(Default)]
pub(crate) struct State {
    services: Arc<Services>,
    endpoints: Arc<HashMap<ServiceKey, Arc<ServiceEndpoints>>>,
    workloads: Arc<Workloads>,
}

impl State {
    pub(crate) fn service(&mut self, _object: Arc<input::Service>) {}

    pub(crate) fn slice(&mut self, _object: Arc<input::EndpointSlice>) {}

    pub(crate) fn pod(&mut self, _object: Arc<input::Pod>) {}

    pub(crate) fn node(&mut self, _object: Arc<input::Node>) {}

    pub(crate) fn namespace(&mut self, _object: Arc<input::Namespace>) {}

    pub(crate) fn entry(&mut self, _object: Arc<Object>) {}

    pub(crate) fn gone(&mut self, _key: &Key) {}

    pub(crate) fn settings_changed(&mut self) {}

    pub(crate) fn update(&mut self, _settings: &Settings) -> Parts {
        Parts {
            services: Arc::clone(&self.services),
            endpoints: Arc::clone(&self.endpoints),
            workloads: Arc::clone(&self.workloads),
        }
    }
}
