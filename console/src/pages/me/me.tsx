import { Button } from '@mantine/core'
import { call } from '../../contract/call.ts'
import { isProblem, Problem } from '../../contract/problem.ts'
import { Icon } from '../../look/icons.tsx'
import { Facts, Page } from '../../parts/page.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { useHolders } from '../../session/holders.ts'
import { openKeyDialog } from '../../session/key-dialog-state.ts'
import { endSession, session } from '../../session/session.ts'
import { exactTime } from '../../values/format.ts'
import { t } from '../../words/words.ts'
import { Looks } from './looks.tsx'
import { Password } from './password.tsx'
import { Sessions } from './sessions.tsx'
import { Tokens } from './tokens.tsx'

/** How long until the service is told again of a session that nobody wants any more. */
const toldAgainMs = 5000

/** Ends it here whatever comes, and at the service: where that cannot be told, somebody has to know that it lives on. */
const signOut = async (): Promise<void> => {
  const token = session()?.token ?? null
  const isTold = (): Promise<boolean> =>
    call('logout', {}, token).then(
      () => true,
      (error: unknown) => isProblem(error) && error.status === 401,
    )
  const first = await isTold()
  endSession()
  if (first) return
  tellProblem(new Problem(0, 'still_signed_in', ''))
  const again = async (): Promise<void> => {
    if (await isTold()) tell(t('me.outAfterAll'))
    else setTimeout(() => void again(), toldAgainMs)
  }
  setTimeout(() => void again(), toldAgainMs)
}

/** Oneself: how one signs in, what acts in one's name, and how the console looks. */
export const Me = () => {
  const { session: holder, keys } = useHolders()
  const now = session()
  return (
    <Page
      title={holder?.name ?? t('nav.you')}
      actions={
        <>
          <Button variant="default" leftSection={<Icon name="key" />} onClick={openKeyDialog}>
            {t('keys.use')}
          </Button>
          <Button variant="default" leftSection={<Icon name="signOut" />} onClick={() => void signOut()}>
            {t('me.out')}
          </Button>
        </>
      }
    >
      <div className="panel">
        <Facts
          facts={[
            [t('me.role'), holder?.administrator === true ? t('me.administrator') : t('me.person')],
            [t('me.until'), now === null ? '' : exactTime(now.expiresAt)],
            [t('me.keys'), keys.length === 0 ? t('me.noKeys') : keys.map(({ name }) => name).join(', ')],
          ]}
        />
      </div>
      <Looks />
      {holder === null ? null : (
        <>
          <Sessions />
          <Tokens />
          <Password />
        </>
      )}
    </Page>
  )
}
