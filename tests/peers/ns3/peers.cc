// The dumbbell and the single connection of the ns-2 scripts in ns-3, with its own TCP.
//
//   peers --scenario=dumbbell --queue=FIFO --tcp=NewReno --seed=1 --duration=30
//
// A packet has 1000 bytes on the line: 958 of data, 20 of TCP, 20 of IP, 2 of PPP; goodput is counted in such packets. The
// queue is FIFO (the device's own, no queue disc), RED, or FQLQD: FqCoDel whose CoDel never acts, so that only its fair
// queues and its drop from the queue with most bytes are left. With a queue disc the device holds one packet more.

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
    uint32_t connections = 16;
    uint32_t packets = 128;
    bool counters = true;
    bool sack = true;
};

/// A line and its access lines.
struct Network
{
    std::string rate;
    std::string delay;
    std::string accessRate;
    std::string accessDelay;
    uint32_t reverse;
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

/// A line whose ends hold so many packets each.
NetDeviceContainer
Line(Ptr<Node> a, Ptr<Node> b, const std::string& rate, const std::string& delay, uint32_t held, uint32_t heldBack)
{
    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue(rate));
    line.SetChannelAttribute("Delay", StringValue(delay));
    NetDeviceContainer ends = line.Install(a, b);
    const uint32_t room[] = {held, heldBack};
    for (uint32_t end = 0; end < 2; end++)
    {
        auto device = DynamicCast<PointToPointNetDevice>(ends.Get(end));
        device->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, room[end]));
    }
    return ends;
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
    QueueSize room(QueueSizeUnit::PACKETS, options.packets);
    TrafficControlHelper helper;
    if (options.queue == "FQLQD")
    {
        helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", QueueSizeValue(room), "Target", StringValue("1000s"),
                                "Interval", StringValue("1000s"), "DropBatchSize", UintegerValue(1), "Flows",
                                UintegerValue(4096));
    }
    else
    {
        helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", QueueSizeValue(room), "MinTh", DoubleValue(5), "MaxTh",
                                DoubleValue(15), "QW", DoubleValue(0.002), "LInterm", DoubleValue(10), "Gentle",
                                BooleanValue(true), "MeanPktSize", UintegerValue(1000), "LinkBandwidth",
                                StringValue(network.rate), "LinkDelay", StringValue(network.delay));
    }
    Ptr<QueueDisc> disc = helper.Install(device).Get(0);
    disc->TraceConnectWithoutContext("Drop", MakeCallback(&CountDropInDisc));
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&ChangeInDisc));
    line->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, 1));
}

std::vector<double>
Starts(const Options& options)
{
    std::vector<double> starts;
    std::stringstream given(options.starts);
    for (std::string one; std::getline(given, one, ',');)
    {
        starts.push_back(std::stod(one));
    }
    auto draw = CreateObject<UniformRandomVariable>();
    while (starts.size() < options.connections)
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

void
Build(const Options& options, const Network& network)
{
    NodeContainer routers(2);
    NodeContainer senders(options.connections);
    NodeContainer receivers(options.connections);
    InternetStackHelper stack;
    stack.Install(NodeContainer(routers, senders, receivers));
    NetDeviceContainer bottleneck = Line(routers.Get(0), routers.Get(1), network.rate, network.delay, options.packets,
                                         network.reverse);
    NetDeviceContainer devices = bottleneck;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(bottleneck);
    std::vector<Ipv4Address> ends;
    for (uint32_t i = 0; i < options.connections; i++)
    {
        auto in = Line(senders.Get(i), routers.Get(0), network.accessRate, network.accessDelay, 10000, 10000);
        auto out = Line(routers.Get(1), receivers.Get(i), network.accessRate, network.accessDelay, 10000, 10000);
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
    g_connections.resize(options.connections);
    std::vector<double> starts = Starts(options);
    for (uint32_t i = 0; i < options.connections; i++)
    {
        Connect(options, senders.Get(i), receivers.Get(i), ends[i], starts[i], g_connections[i]);
    }
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
              << "\", \"tcp\": \"" << options.tcp << "\", \"seed\": \"" << options.seed << "\"}}" << std::endl;
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
    command.AddValue("scenario", "dumbbell or buffers", options.scenario);
    command.AddValue("queue", "FIFO, FQLQD or RED", options.queue);
    command.AddValue("tcp", "NewReno or HSTCP", options.tcp);
    command.AddValue("seed", "of RED's draws, and of starts that are not given", options.seed);
    command.AddValue("warm_up", "seconds that are left out", options.warmUp);
    command.AddValue("duration", "seconds that are measured after them", options.duration);
    command.AddValue("spread", "starts are drawn in so many seconds", options.spread);
    command.AddValue("starts", "starts in seconds, with commas between", options.starts);
    command.AddValue("connections", "how many", options.connections);
    command.AddValue("packets", "that may wait at the bottleneck", options.packets);
    command.AddValue("counters", "whether hops and segments are counted", options.counters);
    command.AddValue("sack", "whether acknowledgements are selective", options.sack);
    command.Parse(argc, argv);
    if (!std::set<std::string>{"dumbbell", "buffers"}.count(options.scenario))
    {
        return Refuse(options.scenario + ": there are dumbbell and buffers");
    }
    if (!std::set<std::string>{"FIFO", "FQLQD", "RED"}.count(options.queue))
    {
        return Refuse(options.queue + ": there are FIFO, FQLQD and RED");
    }
    Network network = options.scenario == "dumbbell" ? Network{"10Mbps", "10ms", "100Mbps", "2ms", 1000}
                                                      : Network{"50Mbps", "40ms", "1Gbps", "5ms", 5000};
    RngSeedManager::SetRun(options.seed);
    SetTcp(options);
    Build(options, network);
    Snapshot before;
    Simulator::Schedule(Seconds(options.warmUp), &Take, &before);
    Simulator::Stop(Seconds(options.warmUp + options.duration));
    Simulator::Run();
    Print(options, before, Counters());
    Simulator::Destroy();
    return 0;
}
