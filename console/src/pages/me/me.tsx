import { Button } from '@mantine/core'
import { Icon } from '../../look/icons.tsx'
import { Facts, Page } from '../../parts/page.tsx'
import { ask, useHolders } from '../../session/holders.ts'
import { openKeyDialog } from '../../session/key-dialog-state.ts'
import { endSession, session } from '../../session/session.ts'
import { forgetUploads } from '../../upload/queue.ts'
import { exactTime } from '../../values/format.ts'
import { t } from '../../words/words.ts'
import { Looks } from './looks.tsx'
import { Password } from './password.tsx'
import { Sessions } from './sessions.tsx'
import { Tokens } from './tokens.tsx'

const signOut = async (): Promise<void> => {
  await ask('logout', {}).catch(() => {})
  await forgetUploads()
  endSession()
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
