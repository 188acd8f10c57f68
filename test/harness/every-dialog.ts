import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { faultsInBothThemes } from './browser.ts'
import { goTo } from './every-page.ts'

/*
 * What opens over a page of the console: found by pressing whatever can be pressed, since nobody would think of adding
 * a new dialog to a list.
 */

/** What may open something: buttons, and fields with a list of choices. */
const openers = 'button:not(.copy):not([type="submit"]), [aria-haspopup="listbox"]'
/** These end the session, drop the keys of the tab, or close what they are in. */
const ending = /^(?:(?:Sign out|Forget)$|dialog (?:Cancel|Close|I have stored it)$)/
const over = '[role="dialog"], [role="listbox"], [role="menu"]'

/** In the page: presses the next thing that has another name in its part than those, and answers it; null after all. */
const pressNext = (within: string, pressed: ReadonlySet<string>): string => `(() => {
  const pressed = new Set(${JSON.stringify([...pressed])})
  for (const box of [...document.querySelectorAll('main .grid-body input.box')].slice(0, 1)) if (!box.checked) box.click()
  for (const element of document.querySelectorAll(${JSON.stringify(within)})) {
    if (element.disabled || element.ariaDisabled === 'true' || !element.checkVisibility()) continue
    const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
    const part = element.closest('[role="dialog"]') === null ? element.closest('section')?.querySelector('h2')?.textContent : 'dialog'
    const name = ((part ?? '') + ' ' + label).trim().replaceAll(/\\d+/g, '#')
    if (pressed.has(name) || ${ending}.test(name)) continue
    element.focus()
    element.click()
    return name
  }
  return null
})()`

/** In the page: the headings of dialogs that are open, and lists without one. */
const opened = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() =>
  [...document.querySelectorAll(${JSON.stringify(over)})]
    .filter((element) => element.checkVisibility())
    .map((element) => element.querySelector('h2')?.textContent ?? ''))`

const openedNow = async (page: Page): Promise<string[]> => {
  const found: unknown = await page.evaluate(opened)
  return Array.isArray(found) ? found.map(String) : []
}

const pressedIn = async (page: Page, within: string, pressed: Set<string>): Promise<string | null> => {
  const selector = openers.split(', ').map((each) => `${within} ${each}`)
  const name: unknown = await page.evaluate(pressNext(selector.join(), pressed))
  if (typeof name !== 'string') return null
  pressed.add(name)
  return name
}

/** Closes all that is open, from the top. */
const closeAll = async (page: Page): Promise<void> => {
  for (let tries = 0; (await openedNow(page)).length > 0; tries += 1) {
    if (tries > 8) throw new Error(`It does not close: ${await openedNow(page)}`)
    await page.keyboard.press('Escape')
  }
}

/** What was opened, and what axe finds at fault in it. */
export interface Looked {
  readonly titles: Set<string>
  readonly faults: string[]
}

/** Looks at what is open now. */
export const lookAtOpen = async (page: Page, looked: Looked, how: string): Promise<void> => {
  for (const title of await openedNow(page)) looked.titles.add(title)
  for (const fault of await faultsInBothThemes(page, over)) looked.faults.push(`${how}: ${fault}`)
}

/**
 * Opens all that the addresses of one page can open, and what that can open in turn; what is called the same is opened
 * once. Nothing of it may change anything.
 */
export const lookAtAllOf = async (page: Page, paths: readonly string[], looked: Looked): Promise<void> => {
  const pressed = new Set<string>()
  for (const path of paths) {
    await goTo(page, path)
    const there = page.url()
    for (;;) {
      if (page.url() !== there) await goTo(page, path)
      const name = await pressedIn(page, 'main', pressed)
      if (name === null) break
      const before = (await openedNow(page)).length
      if (before === 0) continue
      await lookAtOpen(page, looked, `${path} ${name}`)
      await lookInside(page, looked, before, `${path} ${name}`)
      await closeAll(page)
    }
  }
}

const lookInside = async (page: Page, looked: Looked, before: number, how: string): Promise<void> => {
  const pressed = new Set<string>()
  for (;;) {
    const name = await pressedIn(page, '[role="dialog"]', pressed)
    if (name === null) return
    const now = (await openedNow(page)).length
    if (now > before) await lookAtOpen(page, looked, `${how}, ${name}`)
    if (now > before) await page.keyboard.press('Escape')
    if (now < before) return
  }
}

const sources = resolve(import.meta.dirname, '../../console/src')

/** What the dialogs of the sources are called: patterns, by where each stands, or where its title is told. */
export const titlesInSources = (): ReadonlyMap<string, RegExp> => {
  const words: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(sources, 'words/en.words.json'), 'utf8'))
  const found = new Map<string, RegExp>()
  for (const file of globSync('**/*.tsx', { cwd: sources })) {
    const text = readFileSync(join(sources, file), 'utf8')
    for (const [, title = ''] of text.matchAll(/<(?:(?:Form|Secret)?Dialog|Bulk)\s+title=\{((?:[^{}]|\{[^{}]*\})*)\}/g))
      for (const [, id = ''] of title.matchAll(/\bt\('([\w.]+)'/g))
        found.set(`${file} ${id}`, new RegExp(`(?:^|: )${(words[id] ?? id).replaceAll(/\{\w+\}/g, '.*')}$`))
  }
  return found
}
