/** Copies, also over plain http, where browsers have no clipboard for pages: by a selection. */
export const copyText = async (text: string): Promise<void> => {
  if (window.isSecureContext && navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'off-screen'
  const focused = document.activeElement
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
}
