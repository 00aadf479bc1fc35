//! One end of a QUIC connection: an endpoint of quinn-proto with its application, which sends a
//! number of bytes or takes them.

use fairq_link::ecn::Field;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event,
    ServerConfig, StreamId, VarInt,
};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// What goes in one UDP packet.
pub(crate) struct Datagram {
    /// The payload.
    pub(crate) bytes: Vec<u8>,
    /// Its ECN field.
    pub(crate) ecn: Field,
}

/// An end of the connection.
pub(crate) struct Peer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The stream that carries the bytes, once it is open.
    stream: Option<StreamId>,
    /// Bytes that the application has still to hand over; `None`: it takes them.
    unsent: Option<usize>,
    /// Whether the stream has come to its end here.
    is_done: bool,
}

impl Peer {
    fn new(seed: u8, server: Option<ServerConfig>, unsent: Option<usize>) -> Self {
        let mut config = EndpointConfig::default();
        config.rng_seed(Some([seed; 32]));
        let endpoint = Endpoint::new(Arc::new(config), server.map(Arc::new), true, None);
        Self { endpoint, connection: None, stream: None, unsent, is_done: false }
    }

    /// A client that sends `bytes`, and the server at `address` that takes them. The certificate
    /// has the same length each time: signatures of Ed25519 have, those of ECDSA do not.
    pub(crate) fn pair(now: Instant, address: SocketAddr, bytes: usize) -> [Self; 2] {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("ring makes keys of this kind");
        let mut parameters = CertificateParams::new(["server".into()]).expect("it is a name of a host");
        parameters.serial_number = Some(SerialNumber::from(1));
        let certificate = CertificateDer::from(parameters.self_signed(&key).expect("the key signs"));
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).expect("the certificate can be a root");
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let server = server_config(certificate, key);
        let client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("there is a root");
        let mut pair = [Self::new(1, None, Some(bytes)), Self::new(2, Some(server), None)];
        let connection = pair[0].endpoint.connect(now, client, address, "server");
        pair[0].connection = Some(connection.expect("the address is one"));
        pair
    }

    /// Whether all bytes have arrived here.
    pub(crate) const fn is_done(&self) -> bool {
        self.is_done
    }

    /// When it has something to do, if no datagram arrives.
    pub(crate) fn wakes(&mut self) -> Option<Instant> {
        self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout())
    }

    /// A datagram has arrived.
    pub(crate) fn hear(&mut self, now: Instant, from: SocketAddr, datagram: &Datagram) {
        let ecn = EcnCodepoint::from_bits(datagram.ecn.bits());
        let mut answer = Vec::new();
        match self.endpoint.handle(now, from, None, ecn, datagram.bytes.as_slice().into(), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut answer, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(error) => panic!("the server refuses the client: {}", error.cause),
                }
            }
            // An answer without a connection: a retry or a reset, which no test here wants.
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// What it sends now. The application works first.
    pub(crate) fn speak(&mut self, now: Instant) -> Vec<Datagram> {
        let mut datagrams = Vec::new();
        let Some((handle, connection)) = &mut self.connection else { return datagrams };
        while connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        self.work();
        let Some((_, connection)) = &mut self.connection else { return datagrams };
        let mut bytes = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, 1, &mut bytes) {
            let ecn = Field::of(transmit.ecn.map_or(0, |ecn| ecn as u8));
            datagrams.push(Datagram { bytes: std::mem::take(&mut bytes), ecn });
        }
        datagrams
    }

    /// The application: the client writes as much as the stream takes, the server reads all.
    fn work(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            if let Event::ConnectionLost { reason } = event {
                panic!("the connection is lost: {reason}");
            }
        }
        if let Some(unsent) = &mut self.unsent {
            if *unsent == 0 {
                return;
            }
            self.stream = self.stream.or_else(|| connection.streams().open(Dir::Uni));
            let Some(id) = self.stream else { return };
            let mut stream = connection.send_stream(id);
            while *unsent > 0 {
                let Ok(written) = stream.write(&[0; 65536][..(*unsent).min(65536)]) else { return };
                *unsent -= written;
            }
            stream.finish().expect("the stream is open");
        } else {
            self.stream = self.stream.or_else(|| connection.streams().accept(Dir::Uni));
            let Some(id) = self.stream.filter(|_| !self.is_done) else { return };
            let mut stream = connection.recv_stream(id);
            let Ok(mut chunks) = stream.read(true) else { return };
            self.is_done = loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(_)) => {}
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            let _ = chunks.finalize();
        }
    }
}

/// A server that takes a lasting client: it answers each handshake and gives one stream.
fn server_config(certificate: CertificateDer<'static>, key: PrivatePkcs8KeyDer<'static>) -> ServerConfig {
    let crypto = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate], key.into()))
        .expect("the certificate belongs to the key");
    let crypto = QuicServerConfig::try_from(crypto).expect("ring has the first cipher of QUIC");
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    let transport = Arc::get_mut(&mut config.transport).expect("it is not shared yet");
    transport.max_concurrent_uni_streams(VarInt::from_u32(1));
    config
}
