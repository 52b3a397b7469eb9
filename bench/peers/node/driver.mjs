// pg-boss, graphile-worker and BullMQ as programs; see ../README.md for how they are called.
import { openSync, writeSync } from 'node:fs'

const [peer, action] = process.argv.slice(2)
const { PEER_AT, PEER_URL, PEER_NOTES } = process.env
const count = Number(process.env.PEER_N)
const numbers = Array.from({ length: count }, (_, number) => number)
const file = openSync(PEER_NOTES, 'a')
const note = (number) => writeSync(file, `${number} ${Math.round((performance.timeOrigin + performance.now()) * 1000)}\n`)

// With seconds where the peer has them; whoever has not is asked only for whole minutes.
const cron = ({ seconds }) => {
  if (PEER_AT === 'second') return '* * * * * *'
  const at = new Date(Number(PEER_AT) * 1000)
  const minutes = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`
  return seconds ? `${at.getUTCSeconds()} ${minutes}` : minutes
}

// So many calls under way at once, as a program that registers many would do.
const inParallel = async (lanes, work) => {
  const queue = [...numbers]
  await Promise.all(Array.from({ length: lanes }, async () => {
    for (let number = queue.shift(); number !== undefined; number = queue.shift()) await work(number)
  }))
}

const pgboss = {
  // Schedules go out once a second instead of every five, looked at each second instead of every thirty.
  open: async () => {
    const { PgBoss } = await import('pg-boss')
    const boss = new PgBoss({ connectionString: PEER_URL, cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 })
    boss.on('error', (error) => console.error(error.message))
    await boss.start()
    return boss
  },
  setup: async () => {
    const boss = await pgboss.open()
    await boss.createQueue('herd')
    const spec = cron({ seconds: false })
    await inParallel(10, (number) => boss.schedule('herd', spec, { number }, { tz: 'UTC', key: `one-${number}` }))
    await boss.stop({ graceful: false })
  },
  // A thousand jobs a poll instead of one, twice a second instead of every two.
  work: async () => {
    const boss = await pgboss.open()
    await boss.work('herd', { batchSize: 1000, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      for (const job of jobs) note(job.data.number)
    })
  },
}

const graphile = {
  setup: async () => {
    const { runMigrations } = await import('graphile-worker')
    await runMigrations({ connectionString: PEER_URL, logger: await graphile.silent() })
  },
  silent: async () => {
    const { Logger } = await import('graphile-worker')
    return new Logger(() => () => {})
  },
  // Twenty jobs at once instead of one, a poll each second instead of every two.
  work: async () => {
    const { run, parseCronItems } = await import('graphile-worker')
    const match = cron({ seconds: false })
    const item = (number) => ({ task: 'start', match, identifier: `one-${number}`, payload: { number } })
    await run({
      connectionString: PEER_URL,
      concurrency: 20,
      pollInterval: 1000,
      logger: await graphile.silent(),
      taskList: { start: async (payload) => note(payload.number) },
      parsedCronItems: parseCronItems(numbers.map(item)),
    })
  },
}

const connection = () => {
  const url = new URL(PEER_URL)
  return { host: url.hostname, port: Number(url.port), maxRetriesPerRequest: null }
}

const bullmq = {
  setup: async () => {
    const { Queue } = await import('bullmq')
    const queue = new Queue('herd', { connection: connection() })
    const pattern = cron({ seconds: true })
    await inParallel(50, (number) =>
      queue.upsertJobScheduler(`one-${number}`, { pattern, tz: 'UTC' }, { name: 'start', data: { number } }))
    await queue.close()
  },
  // A hundred jobs at once instead of one.
  work: async () => {
    const { Worker } = await import('bullmq')
    const worker = new Worker('herd', async (job) => note(job.data.number), { connection: connection(), concurrency: 100 })
    worker.on('error', (error) => console.error(error.message))
    await worker.waitUntilReady()
  },
}

const peers = { 'pg-boss': pgboss, 'graphile-worker': graphile, bullmq }
await peers[peer][action]()
if (action === 'setup') process.exit(0)
console.log('ready')
