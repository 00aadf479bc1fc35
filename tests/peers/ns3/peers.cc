// The dumbbell, the single connection and the V-WFQ experiments of the ns-2 scripts in ns-3, with its own TCP.
//
//   peers --scenario=dumbbell --queue=FIFO --tcp=NewReno --seed=1 --duration=30
//   peers --scenario=vwfq --experiment=2 --queue=RED --seed=1 --duration=30
//
// A packet has 1000 bytes on the line: 958 of data, 20 of TCP, 20 of IP, 2 of PPP; goodput is counted in such packets. The
// queue is FIFO (the device's own, no queue disc), RED, or FQLQD: FqCoDel whose CoDel never acts, so that only its fair
// queues and its drop from the queue with most bytes are left. With a queue disc the device holds one packet more. The
// V-WFQ experiments have their room, and RED its thresholds, in bytes, but FQLQD packets of 1000, in the first of 500; a
// queue disc counts a packet without the 2 of PPP.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t kData = 958;

/// A packet of constant rate has 500 bytes on the line: 470 of data, 8 of UDP, 20 of IP, 2 of PPP.
const uint32_t kConstant = 500;
const uint32_t kConstantData = 470;

struct Options
{
    std::string scenario = "dumbbell";
    std::string queue = "FIFO";
    std::string tcp = "NewReno";
    uint32_t seed = 1;
    double warmUp = 0;
    double duration = 30;
    double spread = 0.1;
    std::string starts;
    std::string access = "10Mbps";
    std::string accessDelay = "5ms";
    double apart = 0;
    uint32_t connections = 16;
    uint32_t packets = 128;
    uint32_t experiment = 1;
    double jitter = 0;
    bool counters = true;
    bool sack = true;
};

/// A line, its access lines, who sends over it, and the queue's measures.
struct Network
{
    std::string rate;
    std::string delay;
    std::string accessRate;
    std::string accessDelay;
    uint32_t reverse;
    uint32_t accessRoom;
    uint32_t greedy;
    std::vector<double> constant;
    QueueSize room;
    double redMin;
    double redMax;
    double redWeight;
    uint32_t redPacket;
};

/// Packets of constant rate, and how many of them arrived.
struct Constant
{
    Ptr<Socket> socket;
    Ptr<PacketSink> sink;
    double gap = 0;
    double jitter = 0;
    Ptr<UniformRandomVariable> draw;
};

/// What is counted at the bottleneck, and the area under its queue in packets times seconds.
struct Bottleneck
{
    uint64_t sent = 0;
    uint64_t bytes = 0;
    uint64_t dropped = 0;
    uint32_t inDevice = 0;
    uint32_t inDisc = 0;
    double area = 0;
    double since = 0;

    void Settle()
    {
        double now = Simulator::Now().GetSeconds();
        area += (now - since) * (inDevice + inDisc);
        since = now;
    }
};

/// What a connection has done.
struct Connection
{
    Ptr<BulkSendApplication> source;
    Ptr<PacketSink> sink;
    uint64_t sent = 0;
    uint64_t retransmitted = 0;
    bool hasSent = false;
    SequenceNumber32 next;
};

/// All numbers at one time; what is printed is the difference of two.
struct Snapshot
{
    Bottleneck bottleneck;
    std::vector<uint64_t> delivered;
    std::vector<uint64_t> sent;
    std::vector<uint64_t> retransmitted;
};

Bottleneck g_bottleneck;
std::vector<Connection> g_connections;
std::vector<Constant> g_constants;
uint64_t g_hops = 0;

void
CountHop(Ptr<const Packet>)
{
    g_hops++;
}

void
CountSent(Ptr<const Packet> packet)
{
    g_bottleneck.sent++;
    g_bottleneck.bytes += packet->GetSize();
}

void
CountDropInDisc(Ptr<const QueueDiscItem>)
{
    g_bottleneck.dropped++;
}

void
CountDropAboveDevice(Ptr<const Packet>)
{
    g_bottleneck.dropped++;
}

void
ChangeInDevice(uint32_t, uint32_t packets)
{
    g_bottleneck.Settle();
    g_bottleneck.inDevice = packets;
}

void
ChangeInDisc(uint32_t, uint32_t packets)
{
    g_bottleneck.Settle();
    g_bottleneck.inDisc = packets;
}

/// A segment with data; one that does not begin where the last new one ended was sent before.
void
CountSegment(Connection* connection, Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    connection->sent++;
    if (connection->hasSent && header.GetSequenceNumber() < connection->next)
    {
        connection->retransmitted++;
        return;
    }
    connection->hasSent = true;
    connection->next = header.GetSequenceNumber() + packet->GetSize();
}

void
WatchSource(Connection* connection)
{
    connection->source->GetSocket()->TraceConnectWithoutContext("Tx", MakeBoundCallback(&CountSegment, connection));
}

Snapshot
Counters()
{
    g_bottleneck.Settle();
    Snapshot now;
    now.bottleneck = g_bottleneck;
    for (const Connection& connection : g_connections)
    {
        now.delivered.push_back(connection.sink->GetTotalRx() / kData);
        now.sent.push_back(connection.sent);
        now.retransmitted.push_back(connection.retransmitted);
    }
    for (const Constant& constant : g_constants)
    {
        now.delivered.push_back(constant.sink->GetTotalRx() / kConstantData);
        now.sent.push_back(0);
        now.retransmitted.push_back(0);
    }
    return now;
}

void
Take(Snapshot* snapshot)
{
    *snapshot = Counters();
}

void
SetTcp(const Options& options)
{
    std::string control = options.tcp == "HSTCP" ? "ns3::TcpHighSpeed" : "ns3::TcpNewReno";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(control)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(options.sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kData));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(5000 * kData));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(5000 * kData));
}

/// A line, what its queue holds, and how many packets that of the way back.
NetDeviceContainer
Line(Ptr<Node> a, Ptr<Node> b, const std::string& rate, const std::string& delay, QueueSize held, uint32_t heldBack)
{
    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue(rate));
    line.SetChannelAttribute("Delay", StringValue(delay));
    NetDeviceContainer ends = line.Install(a, b);
    const QueueSize room[] = {held, QueueSize(QueueSizeUnit::PACKETS, heldBack)};
    for (uint32_t end = 0; end < 2; end++)
    {
        auto device = DynamicCast<PointToPointNetDevice>(ends.Get(end));
        device->GetQueue()->SetMaxSize(room[end]);
    }
    return ends;
}

/// FqCoDel takes nothing where its room is in bytes; it has as many packets of those that RED takes for usual.
QueueSize
RoomOfFair(const Network& network)
{
    const QueueSize& room = network.room;
    return room.GetUnit() == QueueSizeUnit::PACKETS
               ? room
               : QueueSize(QueueSizeUnit::PACKETS, room.GetValue() / network.redPacket);
}

/// Gives the bottleneck its queue and watches it. Addresses must stand: with them every device gets a queue disc.
void
SetQueue(const Options& options, const Network& network, Ptr<NetDevice> device)
{
    auto line = DynamicCast<PointToPointNetDevice>(device);
    auto layer = device->GetNode()->GetObject<TrafficControlLayer>();
    layer->TraceConnectWithoutContext("TcDrop", MakeCallback(&CountDropAboveDevice));
    line->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&CountSent));
    line->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&ChangeInDevice));
    if (options.queue == "FIFO")
    {
        return;
    }
    TrafficControlHelper helper;
    if (options.queue == "FQLQD")
    {
        helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", QueueSizeValue(RoomOfFair(network)), "Target", StringValue("1000s"),
                                "Interval", StringValue("1000s"), "DropBatchSize", UintegerValue(1), "Flows",
                                UintegerValue(4096));
    }
    else
    {
        helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", QueueSizeValue(network.room), "MinTh",
                                DoubleValue(network.redMin), "MaxTh", DoubleValue(network.redMax), "QW",
                                DoubleValue(network.redWeight), "LInterm", DoubleValue(10), "Gentle", BooleanValue(true),
                                "MeanPktSize", UintegerValue(network.redPacket), "LinkBandwidth",
                                StringValue(network.rate), "LinkDelay", StringValue(network.delay));
    }
    Ptr<QueueDisc> disc = helper.Install(device).Get(0);
    disc->TraceConnectWithoutContext("Drop", MakeCallback(&CountDropInDisc));
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&ChangeInDisc));
    line->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, 1));
}

std::vector<double>
Numbers(const std::string& given)
{
    std::vector<double> numbers;
    std::stringstream left(given);
    for (std::string one; std::getline(left, one, ',');)
    {
        numbers.push_back(std::stod(one));
    }
    return numbers;
}

std::vector<double>
Starts(const Options& options, uint32_t sources)
{
    std::vector<double> starts = Numbers(options.starts);
    auto draw = CreateObject<UniformRandomVariable>();
    while (starts.size() < sources)
    {
        starts.push_back(draw->GetValue(0, options.spread));
    }
    return starts;
}

void
Connect(const Options& options, Ptr<Node> from, Ptr<Node> to, Ipv4Address address, double start, Connection& connection)
{
    const uint16_t port = 9;
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    source.SetAttribute("SendSize", UintegerValue(kData));
    connection.source = DynamicCast<BulkSendApplication>(source.Install(from).Get(0));
    connection.source->SetStartTime(Seconds(start));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    connection.sink = DynamicCast<PacketSink>(sink.Install(to).Get(0));
    if (options.counters)
    {
        Simulator::Schedule(Seconds(start) + MicroSeconds(1), &WatchSource, &connection);
    }
}

/// Sends a packet and plans the next, whose gap may be drawn anew.
void
SendConstant(Constant* constant)
{
    constant->socket->Send(Create<Packet>(kConstantData));
    double part = constant->jitter > 0 ? constant->draw->GetValue(-0.5, 0.5) * constant->jitter : 0;
    Simulator::Schedule(Seconds(constant->gap * (1 + part)), &SendConstant, constant);
}

void
Pour(const Options& options, Ptr<Node> from, Ptr<Node> to, Ipv4Address address, double start, double rate,
     Constant& constant)
{
    const uint16_t port = 9;
    constant.gap = 8 * kConstant / rate;
    constant.jitter = options.jitter;
    constant.draw = CreateObject<UniformRandomVariable>();
    constant.socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
    constant.socket->Connect(InetSocketAddress(address, port));
    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    constant.sink = DynamicCast<PacketSink>(sink.Install(to).Get(0));
    Simulator::Schedule(Seconds(start), &SendConstant, &constant);
}

void
Build(const Options& options, const Network& network)
{
    const uint32_t sources = network.greedy + network.constant.size();
    NodeContainer routers(2);
    NodeContainer senders(sources);
    NodeContainer receivers(sources);
    InternetStackHelper stack;
    stack.Install(NodeContainer(routers, senders, receivers));
    NetDeviceContainer bottleneck = Line(routers.Get(0), routers.Get(1), network.rate, network.delay, network.room,
                                         network.reverse);
    const QueueSize room(QueueSizeUnit::PACKETS, network.accessRoom);
    NetDeviceContainer devices = bottleneck;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(bottleneck);
    std::vector<Ipv4Address> ends;
    for (uint32_t i = 0; i < sources; i++)
    {
        const Time later = Time(network.accessDelay) + MicroSeconds(i * options.apart);
        const std::string delay = std::to_string(later.GetNanoSeconds()) + "ns";
        auto in = Line(senders.Get(i), routers.Get(0), network.accessRate, delay, room, network.accessRoom);
        auto out =
            Line(routers.Get(1), receivers.Get(i), network.accessRate, network.accessDelay, room, network.accessRoom);
        devices.Add(in);
        devices.Add(out);
        addresses.NewNetwork();
        addresses.Assign(in);
        addresses.NewNetwork();
        ends.push_back(addresses.Assign(out).GetAddress(1));
    }
    TrafficControlHelper none;
    none.Uninstall(devices);
    SetQueue(options, network, bottleneck.Get(0));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    if (options.counters)
    {
        for (uint32_t i = 0; i < devices.GetN(); i++)
        {
            devices.Get(i)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&CountHop));
        }
    }
    g_connections.resize(network.greedy);
    g_constants.resize(network.constant.size());
    std::vector<double> starts = Starts(options, sources);
    for (uint32_t i = 0; i < network.greedy; i++)
    {
        Connect(options, senders.Get(i), receivers.Get(i), ends[i], starts[i], g_connections[i]);
    }
    for (uint32_t i = network.greedy; i < sources; i++)
    {
        const uint32_t at = i - network.greedy;
        Pour(options, senders.Get(i), receivers.Get(i), ends[i], starts[i], network.constant[at], g_constants[at]);
    }
}

/// The three experiments of the V-WFQ paper: one line of 10 Mb/s with room for 128,000 bytes. RED is that of ns2/vwfq.tcl.
Network
Experiment(uint32_t number, const std::string& access)
{
    const QueueSize room(QueueSizeUnit::BYTES, 128000);
    Network network{"10Mbps", "10ms", access, "5ms", 1000, 1000, 0, {}, room, 6250, 18750, 0.00039992, 1000};
    if (number == 1)
    {
        for (uint32_t i = 1; i <= 16; i++)
        {
            network.constant.push_back(10e6 * i / 16);
        }
        network.redMin = 3125;
        network.redMax = 9375;
        network.redPacket = kConstant;
        return network;
    }
    network.greedy = number == 2 ? 15 : 5;
    if (number == 2)
    {
        network.constant.push_back(10e6);
    }
    return network;
}

Network
NetworkOf(const Options& options)
{
    if (options.scenario == "vwfq")
    {
        return Experiment(options.experiment, options.access);
    }
    const QueueSize room(QueueSizeUnit::PACKETS, options.packets);
    const uint32_t greedy = options.connections;
    return options.scenario == "dumbbell"
               ? Network{"10Mbps", "10ms", "100Mbps", "2ms", 1000, 10000, greedy, {}, room, 5, 15, 0.002, 1000}
               : Network{"50Mbps", "40ms", "1Gbps", options.accessDelay, 5000, 10000, greedy, {}, room, 5, 15, 0.002, 1000};
}

void
PrintList(const char* name, const std::vector<uint64_t>& was, const std::vector<uint64_t>& now)
{
    std::cout << "\"" << name << "\": [";
    for (size_t i = 0; i < now.size(); i++)
    {
        std::cout << (i == 0 ? "" : ", ") << now[i] - was[i];
    }
    std::cout << "], ";
}

void
Print(const Options& options, const Snapshot& was, const Snapshot& now)
{
    std::cout << "{";
    PrintList("goodput", was.delivered, now.delivered);
    PrintList("sent", was.sent, now.sent);
    PrintList("retransmitted", was.retransmitted, now.retransmitted);
    uint64_t sent = now.bottleneck.sent - was.bottleneck.sent;
    uint64_t dropped = now.bottleneck.dropped - was.bottleneck.dropped;
    std::cout << "\"bottleneck_dropped\": " << dropped << ", \"bottleneck_sent\": " << sent
              << ", \"bottleneck_bytes\": " << now.bottleneck.bytes - was.bottleneck.bytes
              << ", \"queue_mean\": " << (now.bottleneck.area - was.bottleneck.area) / options.duration;
    if (options.counters)
    {
        std::cout << ", \"hops\": " << g_hops;
    }
    std::cout << ", \"arguments\": {\"scenario\": \"" << options.scenario << "\", \"queue\": \"" << options.queue
              << "\", \"tcp\": \"" << options.tcp << "\", \"seed\": \"" << options.seed << "\"}}";
}

int
Refuse(const std::string& what)
{
    std::cerr << what << std::endl;
    return 2;
}

} // namespace

int
main(int argc, char* argv[])
{
    Options options;
    CommandLine command;
    command.AddValue("scenario", "dumbbell, buffers or vwfq", options.scenario);
    command.AddValue("queue", "FIFO, FQLQD or RED", options.queue);
    command.AddValue("tcp", "NewReno or HSTCP", options.tcp);
    command.AddValue("seed", "of RED's draws, and of starts that are not given", options.seed);
    command.AddValue("warm_up", "seconds that are left out", options.warmUp);
    command.AddValue("duration", "seconds that are measured after them", options.duration);
    command.AddValue("spread", "starts are drawn in so many seconds", options.spread);
    command.AddValue("starts", "starts in seconds, with commas between", options.starts);
    command.AddValue("access", "rate of the access lines of vwfq", options.access);
    command.AddValue("access_delay", "of each access line of buffers", options.accessDelay);
    command.AddValue("connections", "how many", options.connections);
    command.AddValue("packets", "that may wait at the bottleneck", options.packets);
    command.AddValue("experiment", "of vwfq: 1, 2 or 3", options.experiment);
    command.AddValue("apart", "microseconds that each source's access line takes longer than the one before",
                     options.apart);
    command.AddValue("jitter", "part of a gap of constant rate that is drawn anew", options.jitter);
    command.AddValue("counters", "whether hops and segments are counted", options.counters);
    command.AddValue("sack", "whether acknowledgements are selective", options.sack);
    command.Parse(argc, argv);
    if (!std::set<std::string>{"dumbbell", "buffers", "vwfq"}.count(options.scenario))
    {
        return Refuse(options.scenario + ": there are dumbbell, buffers and vwfq");
    }
    if (options.experiment < 1 || options.experiment > 3)
    {
        return Refuse("experiment " + std::to_string(options.experiment) + ": there are 1, 2 and 3");
    }
    if (!std::set<std::string>{"FIFO", "FQLQD", "RED"}.count(options.queue))
    {
        return Refuse(options.queue + ": there are FIFO, FQLQD and RED");
    }
    const Network network = NetworkOf(options);
    RngSeedManager::SetRun(options.seed);
    SetTcp(options);
    Build(options, network);
    Snapshot before;
    Snapshot after;
    Simulator::Schedule(Seconds(options.warmUp), &Take, &before);
    Simulator::Schedule(Seconds(options.warmUp + options.duration), &Take, &after);
    Simulator::Stop(Seconds(options.warmUp + options.duration) + NanoSeconds(1));
    Simulator::Run();
    Print(options, before, after);
    std::cout << std::endl;
    Simulator::Destroy();
    return 0;
}
