const densityKey = 'svc.density'
const shortcutsKey = 'svc.shortcuts'

export type Density = 'comfortable' | 'compact'

export const density = (): Density => (localStorage.getItem(densityKey) === 'compact' ? 'compact' : 'comfortable')

export const setDensity = (next: Density): void => {
  localStorage.setItem(densityKey, next)
  document.documentElement.dataset['density'] = next
}

/** Single letters as commands can be switched off (WCAG 2.1.4). */
export const hasShortcuts = (): boolean => localStorage.getItem(shortcutsKey) !== 'off'
export const setShortcuts = (on: boolean): void => localStorage.setItem(shortcutsKey, on ? 'on' : 'off')

export const startPreferences = (): void => {
  document.documentElement.dataset['density'] = density()
}
