import type { Page } from 'playwright-core'
import { longerWords } from '../../console/build/words.ts'

/*
 * Going from page to page of the console as its links do, without loading it anew: what this tab knows, such as a key,
 * stays.
 */

/** Every path that the router of the console knows, with names in the place of what differs. */
export const routesOf = async (page: Page): Promise<string[]> => {
  const found: unknown = await page.evaluate('Object.keys(__TSR_ROUTER__.routesByPath)')
  if (!Array.isArray(found)) throw new Error('The router tells no routes')
  return found.map(String).sort()
}

/** In the page: goes there, and waits until all of it is to be seen. */
const going = (path: string): string => `(async () => {
  const router = __TSR_ROUTER__
  router.history.push(router.basepath.replace(/\\/$/, '') + ${JSON.stringify(path)})
  const isThere = () =>
    router.state.status === 'idle' &&
    router.state.resolvedLocation?.href === router.state.location.href &&
    document.querySelector('main h1') !== null &&
    document.querySelector('.skeleton') === null
  const began = performance.now()
  for (let frames = 0; frames < 4; frames = isThere() ? frames + 1 : 0) {
    if (performance.now() - began > 20_000) throw new Error('The page does not come: ' + ${JSON.stringify(path)})
    await new Promise(requestAnimationFrame)
  }
})()`

export const goTo = (page: Page, path: string): Promise<void> => page.evaluate(going(path))

/** By how much a page is wider than its window, in px. */
export const tooWide = async (page: Page): Promise<number> =>
  Number(
    await page.evaluate(`new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
    .then(() => document.documentElement.scrollWidth - innerWidth)`),
  )

/** What moves for longer than nobody sees: how the page would show it to somebody who asked for less. */
export const movingIn = async (page: Page): Promise<string[]> => {
  const found: unknown = await page.evaluate(`[...document.querySelectorAll('*')].filter((element) => {
    const { transitionDuration, animationDuration } = getComputedStyle(element)
    return [transitionDuration, animationDuration].join().split(',').some((time) => Number.parseFloat(time) > 0.001)
  }).map(({ outerHTML }) => outerHTML.slice(0, 160))`)
  return Array.isArray(found) ? found.map(String) : []
}

/** Every list of the service is empty. */
export const emptyLists = async (page: Page): Promise<void> => {
  await page.route(/\/api\/v1\/(?!auth\/)/, async (route) => {
    if (route.request().method() !== 'GET' || /[?&]wait=/.test(route.request().url())) return route.abort()
    const response = await route.fetch()
    const json = await response.json().catch(() => null)
    await (Array.isArray(json?.items)
      ? route.fulfill({ response, json: { ...json, items: [], next: null } })
      : route.fulfill({ response }))
  })
}

/** The service answers nothing but who is there. */
export const failing = async (page: Page): Promise<void> => {
  await page.route(/\/api\/v1\/(?!auth\/)/, (route) =>
    route.fulfill({ status: 500, json: { code: 'internal', detail: 'It failed.', requestId: 'one' } }),
  )
}

/** The console in a language that nobody speaks, whose words are all longer than the English ones. */
export const speakLonger = async (page: Page): Promise<void> => {
  const body = longerWords('console/src/words')
  await page.route(/\/en\.words-[^/]+\.js$/, (route) => route.fulfill({ contentType: 'text/javascript', body }))
}
