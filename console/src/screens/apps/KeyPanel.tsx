import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type { Key, KeyUsage, ShownKey } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { now } from '../../parts/clock.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { Field } from '../../parts/Field.js'
import { grouped, momentOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Loaded } from '../../parts/Loaded.js'
import { Options } from '../../parts/Options.js'
import { Panel } from '../../parts/Panel.js'
import { toast } from '../../parts/toasts.js'
import { useShown } from '../../parts/useOpen.js'
import { KeyForm, keyOfForm } from './KeyForm.js'
import { KeyTag } from './KeyTag.js'
import { keyStateOf } from './keyState.js'
import { quotasOf } from './quotasOf.js'
import { usageDays } from './usageDays.js'

type KeyPanelProps = {
  readonly of: Key
  readonly among: readonly Key[]
  onChanged(): void
  /** A key that took the place of this one was made. */
  onShown(made: ShownKey): void
  onClose(): void
}

/** One key: its limits, how much it was used, and its end. */
export function KeyPanel({ of, among, onChanged, onShown, onClose }: KeyPanelProps) {
  const path = `/apps/${of.appId}/keys/${of.id}`
  const dialog = useShown<'edit' | 'rotate' | 'end'>()
  const isOver = keyStateOf(of, among, now.value).kind === 'ended'
  const predecessor = among.find(({ id }) => id === of.rotatedFrom)
  const shared = { of, path, onClose: dialog.hide }
  return (
    <Panel
      name="Key"
      title={
        <>
          {of.name} <code>…{of.last4}</code>
        </>
      }
      codes={[
        ['curl', curl(path)],
        ['command', `purser key usage ${of.id}`],
      ]}
      onClose={onClose}
    >
      {!isOver && (
        <div class="actions">
          {(['edit', 'rotate', 'end'] as const).map((name) => (
            <ActButton key={name} needs="developer" onClick={() => dialog.show(name)}>
              {words[name]}
            </ActButton>
          ))}
        </div>
      )}
      <Facts>
        <Fact name="State">
          <KeyTag of={of} among={among} />
        </Fact>
        <Fact name="Used for">{of.scopes.join(', ')}</Fact>
        <Fact name="Requests">{quotasOf(of.quotas)}</Fact>
        <Fact name="Methods">{of.methods?.join(', ') ?? 'all of its use'}</Fact>
        <Fact name="Origins">{of.allowedOrigins?.join(', ') ?? 'any'}</Fact>
        <Fact name="Addresses">{of.allowedIps?.join(', ') ?? 'any'}</Fact>
        <Fact name="Created">{momentOf(of.createdAt)}</Fact>
        <Fact name="Last used">{of.lastUsedAt === null ? 'never' : momentOf(of.lastUsedAt)}</Fact>
        {predecessor !== undefined && (
          <Fact name="Replaces">
            <code>…{predecessor.last4}</code>
          </Fact>
        )}
        <Fact name="Id">
          <Hex value={of.id} what="the id of the key" />
        </Fact>
      </Facts>
      <Usage path={path} />
      {dialog.shown === 'edit' && <EditKey {...shared} onChanged={onChanged} />}
      {dialog.shown === 'rotate' && <RotateKey {...shared} onShown={onShown} />}
      {dialog.shown === 'end' && <EndKey {...shared} onChanged={onChanged} />}
    </Panel>
  )
}

const words = { edit: 'Edit', rotate: 'Rotate', end: 'End the key' } as const

/** Requests a day, the newest at the right; refused ones are those above a limit. */
function Usage({ path }: { readonly path: string }) {
  const query = useQuery<KeyUsage>(`${path}/usage`)
  return (
    <section>
      <h3>Requests of the last 30 days</h3>
      <Loaded query={query} lines={2}>
        {({ items, today }) => {
          const days = usageDays(new Date(now.value), items)
          const most = Math.max(1, ...days.map(({ requests }) => requests))
          const sum = days.reduce((total, { requests }) => total + requests, 0)
          return (
            <>
              <svg
                class="spark"
                viewBox={`0 0 ${days.length} 20`}
                preserveAspectRatio="none"
                role="img"
                aria-label={`${sum} requests in ${days.length} days`}
              >
                {days.map(({ day, requests, refused }, at) => (
                  <g key={day}>
                    <rect
                      class="used"
                      x={at + 0.1}
                      width={0.8}
                      y={20 - (20 * requests) / most}
                      height={(20 * requests) / most}
                    />
                    <rect
                      class="refused"
                      x={at + 0.1}
                      width={0.8}
                      y={20 - (20 * refused) / most}
                      height={(20 * refused) / most}
                    />
                  </g>
                ))}
              </svg>
              <p class="muted">
                {grouped(sum)} {sum === 1 ? 'request' : 'requests'}; today {grouped(today.requests)}
                , of which {grouped(today.refused)} were above a limit.
              </p>
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

type KeyDialogProps = { readonly of: Key; readonly path: string; onClose(): void }

function EditKey({ of, path, onClose, onChanged }: KeyDialogProps & { onChanged(): void }) {
  return (
    <ActionDialog
      title={`Edit ${of.name}`}
      act="Save"
      codes={[
        ['curl', curl(path, 'PATCH', { quotas: { perSecond: 10 } })],
        ['command', `purser key limit ${of.id} --per-second 10`],
      ]}
      run={async (form) => {
        await call('PATCH', path, { body: keyOfForm(form) })
        toast('Saved; it applies within 2 seconds')
        onChanged()
      }}
      onClose={onClose}
    >
      <KeyForm of={of} />
    </ActionDialog>
  )
}

const overlaps = [
  [0, 'at once'],
  [3_600, 'in an hour'],
  [86_400, 'in a day'],
  [604_800, 'in 7 days'],
] as const

function RotateKey({
  of,
  path,
  onClose,
  onShown,
}: KeyDialogProps & { onShown(made: ShownKey): void }) {
  return (
    <ActionDialog
      title={`Rotate ${of.name}`}
      act="Create the new key"
      codes={[
        ['curl', curl(`${path}/rotate`, 'POST', { overlapSeconds: 86_400 })],
        ['command', `purser key rotate ${of.id} --overlap 86400`],
      ]}
      run={async (form) => {
        const body = { overlapSeconds: Number(form.get('overlap')) }
        onShown(await call<ShownKey>('POST', `${path}/rotate`, { body }))
      }}
      onClose={onClose}
    >
      <p>
        A new key with the same limits takes its place. Until the old one ends both are good, so
        that every dApp can be moved to the new one.
      </p>
      <Field label="The old key ends">
        <select name="overlap">
          <Options of={overlaps} first={86_400} />
        </select>
      </Field>
    </ActionDialog>
  )
}

function EndKey({ of, path, onClose, onChanged }: KeyDialogProps & { onChanged(): void }) {
  return (
    <ActionDialog
      title={`End ${of.name} …${of.last4}`}
      act="End it"
      look="danger"
      codes={[
        ['curl', curl(path, 'DELETE')],
        ['command', `purser key revoke ${of.id}`],
      ]}
      run={async () => {
        await call('DELETE', path)
        toast('The key ends within 2 seconds')
        onChanged()
      }}
      onClose={onClose}
    >
      <p class="warn">
        Every dApp that uses it is refused within 2 seconds. To change keys without a gap, rotate
        instead. This cannot be undone.
      </p>
    </ActionDialog>
  )
}
