import { Outlet, useRouterState } from '@tanstack/react-router'
import { Toasts } from '../parts/toasts.tsx'
import { useHolders } from '../session/holders.ts'
import { KeyDialog } from '../session/key-dialog.tsx'
import { SignIn, SignInOver } from '../session/sign-in.tsx'
import { t } from '../words/words.ts'
import { Bands } from './bands.tsx'
import { Palette } from './palette.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { BottomBar, Side } from './side.tsx'

/** What stands around every page. Without a session there is the sign-in, at the address that was asked for. */
export const Shell = () => {
  const { session, keys, phase } = useHolders()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  if (session === null && keys.length === 0)
    return (
      <>
        <SignIn setup={path === '/welcome'} />
        <Toasts />
      </>
    )
  return (
    <div className="shell">
      <a className="skip" href="#main">
        {t('nav.skip')}
      </a>
      <Side />
      <div className="content">
        <Bands />
        <Outlet />
      </div>
      <BottomBar />
      <Palette />
      <Shortcuts />
      <KeyDialog />
      <SignInOver open={phase === 'expired'} />
      <Toasts />
    </div>
  )
}
