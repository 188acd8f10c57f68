import type { FileChooser, Locator, Page } from 'playwright-core'
import type { TestEngine } from './engines.ts'

type Files = Parameters<FileChooser['setFiles']>[0]

/** How somebody works at a page: each journey is gone once by either. */
export interface Hands {
  readonly by: string
  /** Presses a button, follows a link, marks a box. */
  press(target: Locator): Promise<void>
  /** Puts this into a field in the place of what stands there. */
  type(target: Locator, text: string): Promise<void>
  /** Opens a list of choices, or types so that it has fewer, and takes one. */
  take(list: Locator, choice: string | RegExp, typed?: string): Promise<void>
  /** Chooses a row of a list. */
  choose(row: Locator): Promise<void>
  /** Takes back what was just done. */
  undo(page: Page): Promise<void>
  /** What a button for files is given when somebody presses it. */
  give(button: Locator, files: Files): Promise<void>
}

/** More stops than any page has on the way of Tab; the window of a list is among them. */
const stopsMost = 300

/** What is asked of an element in its page. */
interface InPage {
  readonly ownerDocument: { readonly activeElement: { compareDocumentPosition(other: InPage): number } }
}

/** The key that leads to an element from where the focus is, if it is not there already. */
const keyTo = (element: InPage): string | null => {
  const { activeElement } = element.ownerDocument
  if (Object.is(activeElement, element)) return null
  const precedes = 2
  return (activeElement.compareDocumentPosition(element) & precedes) === 0 ? 'Tab' : 'Shift+Tab'
}

/** Goes on with Tab until the focus is there. Fails where the keyboard does not come by. */
const reach = async (target: Locator): Promise<void> => {
  const { keyboard } = target.page()
  for (let stop = 0; stop < stopsMost; stop += 1) {
    // Asked for each time: what is drawn anew meanwhile is another element.
    const key = await target.evaluate(keyTo)
    if (key === null) return
    await keyboard.press(key)
  }
  throw new Error(`The keyboard does not come by ${target}`)
}

const pressKey = async (target: Locator, key: string): Promise<void> => {
  await reach(target)
  await target.page().keyboard.press(key)
}

const giving = async (press: Hands['press'], button: Locator, files: Files): Promise<void> => {
  const chooser = button.page().waitForEvent('filechooser')
  await press(button)
  await (await chooser).setFiles(files)
}

const pressByKeys = async (target: Locator): Promise<void> => {
  const isBox = (await target.getAttribute('type')) === 'checkbox'
  await pressKey(target, isBox ? 'Space' : 'Enter')
}

/** The keyboard alone. */
export const byKeys: Hands = {
  by: 'the keyboard alone',
  press: pressByKeys,
  async type(target, text) {
    await pressKey(target, 'ControlOrMeta+A')
    await target.page().keyboard.type(text)
  },
  async take(list, choice, typed) {
    const page = list.page()
    if (typed === undefined) await pressKey(list, 'ArrowDown')
    else await byKeys.type(list, typed)
    const option = page.getByRole('option', { name: choice, exact: true })
    await option.waitFor()
    for (let step = 0; step < stopsMost && (await option.getAttribute('data-combobox-selected')) === null; step += 1)
      await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
  },
  async choose(row) {
    await row.waitFor()
    // Tab comes by one row of a list; keys go on from there.
    await reach(row.page().locator('[role=row][tabindex="0"]'))
    for (let step = 0; step < stopsMost; step += 1) {
      const key = await row.evaluate(keyTo)
      if (key === null) break
      await row.page().keyboard.press(key === 'Tab' ? 'j' : 'k')
    }
    await row.page().keyboard.press('x')
  },
  async undo(page) {
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await page.keyboard.press('ControlOrMeta+Z')
  },
  give: (button, files) => giving(pressByKeys, button, files),
}

/** The pointer, and keys for what is typed. */
export const byPointer: Hands = {
  by: 'the pointer',
  press: (target) => target.click(),
  type: (target, text) => target.fill(text),
  async take(list, choice, typed) {
    await (typed === undefined ? list.click() : list.fill(typed))
    await list.page().getByRole('option', { name: choice, exact: true }).click()
  },
  choose: (row) => row.getByRole('checkbox').check(),
  undo: (page) => page.getByRole('button', { name: 'Undo' }).click(),
  give: (button, files) => giving((target) => target.click(), button, files),
}

/** Which of the two, by what else is tried twice. */
export const handsOn = ({ name }: Pick<TestEngine, 'name'>): Hands => (name === 'sqlite' ? byKeys : byPointer)

/** Adds a key to the tab, on one's own page. */
export const addKey = async (hands: Hands, page: Page, secret: string): Promise<void> => {
  await hands.press(page.getByRole('button', { name: 'Use a key' }))
  await hands.type(page.getByRole('dialog').getByLabel('Key', { exact: true }), secret)
  await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Add to this tab' }))
}
