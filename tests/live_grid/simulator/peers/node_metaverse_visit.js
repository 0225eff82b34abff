// What node-metaverse does in the peer test: one JSON line for each thing done.
// node node_metaverse_visit.js MODULES LOGIN-URL NAME PASSWORD REGION-NAME
'use strict';

const path = require('path');
const [modules, url, name, password, region] = process.argv.slice(2);
const nmv = require(path.join(modules, '@caspertech/node-metaverse'));

const PATIENCE_MS = 30000;
const did = (what, more) => process.stdout.write(JSON.stringify({ did: what, ...more }) + '\n');

// The promise of the first event that fits.
const first = (subject, fits) =>
    new Promise((resolve, reject) =>
    {
        const timer = setTimeout(() => reject(new Error('nothing came')), PATIENCE_MS);
        const waiting = subject.subscribe((event) =>
        {
            if (fits(event))
            {
                clearTimeout(timer);
                waiting.unsubscribe();
                resolve(event);
            }
        });
    });

async function visit()
{
    const login = new nmv.LoginParameters();
    [login.firstName, login.lastName] = name.split(' ');
    login.password = password;
    login.url = url;
    login.start = 'last';
    const bot = new nmv.Bot(login, nmv.BotOptionFlags.LiteObjectStore);
    await bot.login();
    await bot.connectToSim();
    const me = bot.agentID().toString();
    const heard = first(bot.clientEvents.onNearbyChat, (event) => event.from.toString() !== me && event.chatType === 1);
    const written = first(bot.clientEvents.onInstantMessage, (event) => event.from.toString() !== me);
    did('login', { region: bot.currentRegion.regionName });
    const chat = await heard;
    did('hear', { text: chat.message });
    await bot.clientCommands.comms.say('Good day from node-metaverse.');
    did('speak');
    const im = await written;
    did('im', { text: im.message });
    await bot.clientCommands.comms.sendInstantMessage(im.from, 'And back.');
    did('answer');
    // The event queue has to be there before a teleport: its end comes that way.
    await bot.waitForEventQueue(PATIENCE_MS);
    const up = new nmv.Vector3([0, 1, 0]);
    await bot.clientCommands.teleport.teleportTo(region, new nmv.Vector3([50, 60, 25]), up);
    did('teleport', { region: bot.currentRegion.regionName });
    await bot.close();
    did('logout');
    process.exit(0);
}

visit().catch((error) =>
{
    process.stderr.write(String(error && error.stack) + '\n');
    process.exit(1);
});
