import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { openBrowser, signInAt, visit } from '../test/harness/browser.ts'
import { firstMinutes } from './newcomer.ts'
import { fill } from './scale-fill.ts'
import { fillPlace, onEngines, startSite } from './scale-site.ts'
import { person } from './servers.ts'

const seconds = 30
const times = 20
const slowed = 4

/**
 * `npm run bench -- --console <files>`: how the console feels with so many files stored, in Debian's Chromium without a
 * window; before that, how long the first minutes of a newcomer take. Beside each figure stands what it should be.
 * Frames are drawn by the processor here and not by a graphics card, so what a frame costs in scripts says more than
 * how many there were. To fill a million takes minutes: `--kept <folder>` keeps what SQLite was filled with, for the
 * next time.
 */
export const measureConsole = async (count: number, engines: readonly string[], kept?: string): Promise<void> => {
  const newcomers = await openBrowser()
  try {
    console.log('the first minutes of a newcomer')
    await firstMinutes(newcomers)
  } finally {
    await newcomers.close()
  }
  await amongMany(count, engines, kept)
}

const amongMany = (count: number, engines: readonly string[], kept?: string): Promise<void> =>
  onEngines(engines, async (engine, settings) => {
    console.log(`\n${engine}, ${count} files`)
    const stays = engine === 'sqlite' && kept !== undefined
    const place = stays ? { SVC_DATA_DIR: join(kept, `${count}-files`) } : await settings()
    const mark = join(place['SVC_DATA_DIR'] ?? '', 'filled')
    if (!stays || !existsSync(mark)) {
      await fillPlace(place, { count, each: 'file' }, (database, store) => fill(database, store, count))
      if (stays) await writeFile(mark, '')
    }
    const site = await startSite(place)
    const address = new URL(site.server.download('any', '').url).origin
    const browser = await openBrowser()
    try {
      const { context, page, faults } = await visit(browser)
      await signInAt(page, address, person.name, person.password)
      const cdp = await context.newCDPSession(page)
      await sent(cdp, page, address)
      await usable(page, cdp, address)
      await cached(page)
      await requests(page, address)
      const list = `${address}/console/r/releases/artifacts`
      await scrolled(page, cdp, list, 'the wheel', async (until) => {
        await page.mouse.move(640, 500)
        while (performance.now() < until) await page.mouse.wheel(0, 400)
      })
      await scrolled(page, cdp, list, 'held j', async (until) => {
        await page.locator('.grid-body [role="row"]').first().focus()
        while (performance.now() < until) await page.keyboard.press('j', { delay: 33 })
      })
      for (const fault of faults) console.log(`the policy refused, or a script threw: ${fault}`)
    } finally {
      await browser.close()
      site.client.close()
    }
  })

const say = (what: string, is: string, aim: string): void => console.log(`${what.padEnd(48)}${is.padStart(28)}  ${aim}`)
const middle = (all: readonly number[], part = 0.5): number =>
  all.toSorted((one, other) => one - other)[Math.floor(all.length * part)] ?? Number.NaN

/** What comes over the line until a list stands there, with nothing in the cache: compressed, heads included. */
const sent = async (cdp: CDPSession, page: Page, address: string): Promise<void> => {
  const kinds = new Map<string, string>()
  const bytes = new Map<string, number>()
  const heard = ({ requestId, type }: { requestId: string; type: string }): void => void kinds.set(requestId, type)
  const ended = ({ requestId, encodedDataLength }: { requestId: string; encodedDataLength: number }): void => {
    const kind = kinds.get(requestId) ?? ''
    bytes.set(kind, (bytes.get(kind) ?? 0) + encodedDataLength)
  }
  // What the page before still loads does not count.
  await page.goto('about:blank')
  cdp.on('Network.responseReceived', heard)
  cdp.on('Network.loadingFinished', ended)
  await cdp.send('Network.enable')
  await cdp.send('Network.clearBrowserCache')
  await page.goto(`${address}/console/r/releases/artifacts`)
  await page.locator('.grid-body [role="row"]').first().waitFor()
  await page.evaluate('document.fonts.ready.then(() => null)')
  cdp.off('Network.responseReceived', heard)
  cdp.off('Network.loadingFinished', ended)
  await cdp.send('Network.disable')
  for (const [kind, what, aim] of [
    ['Script', 'scripts of a first page and of its list', 'at most 190 + 30 KiB'],
    ['Stylesheet', 'styles', 'at most 20 KiB'],
    ['Font', 'fonts', 'at most 90 KiB'],
  ] as const)
    say(what, `${((bytes.get(kind) ?? 0) / 1024).toFixed(1)} KiB`, aim)
}

/** From nothing in the cache to rows that one can use. */
const usable = async (page: Page, cdp: CDPSession, address: string): Promise<void> => {
  const took: number[] = []
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowed })
  for (let round = 0; round < 5; round += 1) {
    await cdp.send('Network.clearBrowserCache')
    const began = performance.now()
    await page.goto(`${address}/console/r/releases/artifacts`)
    await page.locator('.grid-body [role="row"]').first().waitFor()
    took.push(performance.now() - began)
  }
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  say(`usable, processor slowed ${slowed} times`, `${middle(took).toFixed(0)} ms`, 'at most 1500 ms')
}

/** In the page: goes by a link of the side, and answers how long it took until something was there. */
const comeTo = `(name, wanted) => new Promise((resolve) => {
  const began = performance.now()
  const look = () =>
    document.querySelector(wanted) !== null && document.querySelector('h1') !== null
      ? requestAnimationFrame(() => resolve(performance.now() - began))
      : requestAnimationFrame(look)
  for (const each of document.querySelectorAll('.side nav a')) if (each.textContent.includes(name)) each.click()
  requestAnimationFrame(look)
})`

/** From one page to another that was seen before. */
const cached = async (page: Page): Promise<void> => {
  const took: number[] = []
  for (let round = 0; round < times; round += 1)
    for (const [link, sight] of [
      ['Repositories', '.cards .card'],
      ['Home', '.newest li'],
    ] as const) {
      const ms = Number(await page.evaluate(`(${comeTo})(${JSON.stringify(link)}, ${JSON.stringify(sight)})`))
      if (round > 0) took.push(ms)
    }
  say(
    'a page that was seen before',
    `${middle(took).toFixed(0)} ms, 95 %: ${middle(took, 0.95).toFixed(0)} ms`,
    'at most 100 ms',
  )
}

/** What a page asks the service for; a row asks for nothing. What stands around every page was asked for before. */
const requests = async (page: Page, address: string): Promise<void> => {
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/v1/') && !search.includes('wait=')) asked.push(pathname)
  })
  const around = new Set([
    '/api/v1/auth/me',
    '/api/v1/auth/permissions',
    '/api/v1/auth/options',
    '/api/v1/health/ready',
  ])
  const file = `a[href*="/artifacts/"]`
  await page.goto(`${address}/console/r/releases/artifacts`)
  const one = new URL((await page.locator(`.grid-body ${file}`).first().getAttribute('href')) ?? '', page.url())
    .pathname
  for (const path of [
    '/',
    '/r',
    '/r/releases/files/',
    '/r/releases/artifacts',
    '/r/releases/activity',
    '/search?q=web',
    one.slice(one.indexOf('/r/')),
  ]) {
    asked.length = 0
    await page.goto(`${address}/console${path}`)
    await page.locator('main h1').waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    await page.waitForLoadState('load')
    const own = asked.filter((each) => !around.has(each))
    say(`requests of ${path.slice(0, 32)}`, String(own.length), 'at most 4')
  }
  page.removeAllListeners('request')
}

/** In the page: `seen` tells how long frames were apart, and which tasks were long. */
const watchFrames = `(() => {
  window.seen = { frames: [], tasks: [], over: false }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.tasks.push(duration)
  }).observe({ type: 'longtask' })
  let last = performance.now()
  const frame = (now) => {
    seen.frames.push(now - last)
    last = now
    if (!seen.over) requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
})()`

interface Seen {
  readonly frames: number[]
  readonly tasks: number[]
}

/** Frames, tasks that held them up, and what is left in memory when it is over. */
const scrolled = async (
  page: Page,
  cdp: CDPSession,
  address: string,
  how: string,
  scroll: (until: number) => Promise<void>,
): Promise<void> => {
  await page.goto(address)
  await page.locator('.grid-body [role="row"]').first().waitFor()
  const heap = async (): Promise<number> => {
    await cdp.send('HeapProfiler.collectGarbage')
    return (await cdp.send('Runtime.getHeapUsage')).usedSize
  }
  const script = async (): Promise<number> => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0
  }
  await cdp.send('Performance.enable')
  const before = await heap()
  const scriptBefore = await script()
  await page.evaluate(watchFrames)
  await scroll(performance.now() + seconds * 1000)
  const { frames, tasks }: Seen = await page.evaluate('(() => { seen.over = true; return seen })()')
  const scripts = ((await script()) - scriptBefore) * 1000
  const reached = Number(
    await page.evaluate(
      `Math.max(...[...document.querySelectorAll('.grid-body [data-at]')].map((row) => row.dataset.at))`,
    ),
  )
  say(
    `${seconds} s of ${how}: frames a second`,
    `${(frames.length / seconds).toFixed(0)}, to row ${reached}`,
    '60 on hardware',
  )
  say('  between frames, 50 and 99 %', `${middle(frames).toFixed(1)}, ${middle(frames, 0.99).toFixed(1)} ms`, '16.7 ms')
  say('  script a frame', `${(scripts / frames.length).toFixed(2)} ms`, '')
  say('  tasks of more than 50 ms', `${tasks.length}, longest ${Math.max(0, ...tasks).toFixed(0)} ms`, 'none')
  say('  memory that stays', `${(((await heap()) - before) / 1024 ** 2).toFixed(1)} MiB`, 'less than 30 MB')
}
