import { i18n } from '@lingui/core'
import { Fragment, type ReactNode, useSyncExternalStore } from 'react'

/** Everything below is made anew in another language: what it says is asked for when it is drawn. */
export const LanguageRoot = ({ children }: { readonly children: ReactNode }) => {
  const locale = useSyncExternalStore(
    (listener) => i18n.on('change', listener),
    () => i18n.locale,
  )
  return <Fragment key={locale}>{children}</Fragment>
}
