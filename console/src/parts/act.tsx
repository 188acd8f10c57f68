import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import type { OperationId } from '../contract/call.ts'
import { Icon, type IconName } from '../look/icons.tsx'
import { type May, useMay } from '../session/holders.ts'
import { openKeyDialog } from '../session/key-dialog-state.ts'
import { said, t } from '../words/words.ts'

const refusalOf = ({ missing, byKeyOnly }: Extract<May, { may: false }>): string =>
  `${t('forbidden.missing', { action: said('action', missing) })} ${byKeyOnly ? t('forbidden.key') : t('forbidden.who')}`

/**
 * A button that does something by an operation. Who may not sees why, and by what it would go; where a key does it, the
 * button says whose.
 */
export const Act = ({
  by,
  on,
  label,
  icon,
  run,
  busy = false,
  off = false,
  unless,
  ...look
}: {
  readonly by: OperationId
  readonly on?: string
  readonly label: string
  readonly icon?: IconName
  readonly run: () => void
  readonly busy?: boolean
  readonly off?: boolean
  /** Why it cannot be done now, whoever asks. */
  readonly unless?: string
} & Pick<ButtonProps, 'variant' | 'color' | 'size'>) => {
  const allowed = useMay()(by, on)
  const picture = icon === undefined ? {} : { leftSection: <Icon name={icon} /> }
  const refused = allowed.may ? unless : refusalOf(allowed)
  if (refused !== undefined)
    return (
      <Tooltip label={refused} multiline w={260} events={{ hover: true, focus: true, touch: true }}>
        <Button
          variant="default"
          {...look}
          {...picture}
          aria-disabled
          className="refused"
          onClick={!allowed.may && allowed.byKeyOnly ? openKeyDialog : () => {}}
        >
          {label}
        </Button>
      </Tooltip>
    )
  const name =
    !allowed.may || allowed.as === null || allowed.as.id === 'session'
      ? label
      : t('keys.as', { what: label, name: allowed.as.name })
  return (
    <Button variant="default" {...look} {...picture} loading={busy} disabled={off} onClick={run}>
      {name}
    </Button>
  )
}
