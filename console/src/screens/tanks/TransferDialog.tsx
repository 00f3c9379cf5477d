import { useSignal } from '@preact/signals'
import { chainName, coinOf, coinWord, usdOf } from '../../api/names.js'
import type { Tank } from '../../api/shapes.js'
import { accountOf, includedBy, sendBy, type Wallet } from '../../api/wallets.js'
import { decimalOf, unitsOf } from '../../parts/amounts.js'
import { Code } from '../../parts/Code.js'
import { Dialog } from '../../parts/Dialog.js'
import { Field } from '../../parts/Field.js'
import { grouped, shortOf, usdText } from '../../parts/format.js'
import { toast } from '../../parts/toasts.js'
import { WalletActs, type WalletCourse } from '../../parts/WalletActs.js'
import { daysText, freeOf } from './Level.js'
import { depositInto, type Transfer, withdrawFrom } from './transfers.js'

type TransferDialogProps = {
  readonly tank: Tank
  readonly kind: 'deposit' | 'withdraw'
  onDone(): void
  onClose(): void
}

const names = {
  deposit: { title: 'Deposit', act: 'Deposit by', done: 'Deposited' },
  withdraw: { title: 'Withdraw', act: 'Withdraw by', done: 'Withdrew' },
} as const

/** Money into a tank or out of it, by a wallet of the browser: it is said what will happen before the wallet is asked. */
export function TransferDialog({ tank, kind, onDone, onClose }: TransferDialogProps) {
  const text = useSignal('')
  const wei = BigInt(unitsOf(text.value, 18) ?? 0)
  const problem = problemOf(tank, kind, wei)
  const transfer = kind === 'deposit' ? depositInto(tank, wei) : withdrawFrom(tank, tank.owner, wei)
  const send = async (wallet: Wallet, { progress, abort }: WalletCourse): Promise<void> => {
    const from = await accountOf(wallet)
    if (kind === 'withdraw' && from !== tank.owner.toLowerCase())
      throw new Error(
        `Only the owner ${tank.owner} can withdraw; ${wallet.name} shows ${from}. Choose that account in the wallet.`,
      )
    const hash = await sendBy(wallet, { ...transfer, from, chainId: tank.chainId })
    progress(`Sent ${shortOf(hash)}, waiting for its block…`)
    await includedBy(wallet, hash, abort)
    toast(
      `${names[kind].done} ${decimalOf(String(wei), 18)} ${coinOf(tank.chainId)} by ${shortOf(hash)}`,
    )
    onDone()
    onClose()
  }
  return (
    <Dialog title={`${names[kind].title}: tank ${shortOf(tank.address)}`} onClose={onClose}>
      <div class="form">
        <Field
          label={`Amount in ${coinWord(tank.chainId)}`}
          hint={
            kind === 'withdraw' && tank.deposit !== null
              ? `${decimalOf(String(freeOf(tank) ?? 0n), 18)} ${coinOf(tank.chainId)} are free`
              : 'Anybody may deposit; only the owner of the tank can take it out.'
          }
        >
          <input
            name="amount"
            inputMode="decimal"
            autocomplete="off"
            placeholder="0.5"
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value
            }}
          />
        </Field>
        {text.value !== '' && problem !== undefined && <p class="warn">{problem}</p>}
        {wei > 0n && problem === undefined && (
          <Plan tank={tank} kind={kind} wei={wei} transfer={transfer} />
        )}
        <WalletActs
          act={names[kind].act}
          isReady={wei > 0n && problem === undefined}
          otherwise="Install one, or use the command under “As code” of the tank."
          run={send}
        />
      </div>
    </Dialog>
  )
}

type PlanProps = Pick<TransferDialogProps, 'tank' | 'kind'> & {
  readonly wei: bigint
  readonly transfer: Transfer
}

/** What the wallet will be asked to sign, and what follows from it. */
function Plan({ tank, kind, wei, transfer }: PlanProps) {
  const before = BigInt(tank.deposit ?? 0)
  const after = kind === 'deposit' ? before + wei : before - wei
  const usd = usdOf(after, tank.chainId)
  const coins = (amount: bigint) => `${decimalOf(String(amount), 18)} ${coinOf(tank.chainId)}`
  const daily = Number(tank.runway?.daily ?? 0)
  const free = Number(after - BigInt(tank.locked ?? 0))
  const days = daily === 0 || free < 0 ? undefined : free / daily
  return (
    <section class="plan" aria-label="What will happen">
      <p>
        {kind === 'deposit' ? (
          <>
            The wallet pays <strong>{coins(wei)}</strong> to the EntryPoint{' '}
            <code>{shortOf(tank.entryPoint)}</code> on {chainName(tank.chainId)}, by{' '}
            <code>depositTo({shortOf(tank.address)})</code>.
          </>
        ) : (
          <>
            The tank pays <strong>{coins(wei)}</strong> of its deposit to its owner{' '}
            <code>{shortOf(tank.owner)}</code> on {chainName(tank.chainId)}, by{' '}
            <code>withdrawTo</code>.
          </>
        )}{' '}
        The deposit of the tank goes from {coins(before)} to <strong>{coins(after)}</strong>
        {usd !== undefined && ` (${usdText(usd)})`}
        {days !== undefined && `, which lasts ${daysText(days)} at the pace of the last week`}. The
        wallet pays the fee of the transaction.
      </p>
      <details>
        <summary>The transaction, to the byte</summary>
        <Code
          what="the transaction"
          text={`chain ${tank.chainId}\nto    ${transfer.to}\nvalue ${grouped(transfer.value)} wei\ndata  ${transfer.data}`}
        />
      </details>
    </section>
  )
}

/** Why an amount cannot be moved; undefined = it can. */
function problemOf(tank: Tank, kind: 'deposit' | 'withdraw', wei: bigint): string | undefined {
  if (wei === 0n) return 'The amount must be a number such as 0.5.'
  if (kind === 'deposit') return undefined
  const free = freeOf(tank)
  if (free === undefined) return 'What is in the tank is not known: its chain is not served here.'
  if (wei > free)
    return `Only ${decimalOf(String(free), 18)} ${coinOf(tank.chainId)} are free: signed sponsorships may still take the rest.`
  return undefined
}
