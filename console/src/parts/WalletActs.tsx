import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { findWallets, type Wallet, wallets } from '../api/wallets.js'
import { Mistake } from './Mistake.js'

/** What an act by a wallet reports meanwhile, and when it has to end. */
export type WalletCourse = { progress(text: string): void; readonly abort: AbortSignal }

type WalletActsProps = {
  /** Stands before the name of each wallet: `Deposit by`. */
  readonly act: string
  readonly isReady: boolean
  /** What to do where no wallet is. */
  readonly otherwise: ComponentChildren
  /** What it throws is shown, and the buttons are there again. */
  run(wallet: Wallet, course: WalletCourse): Promise<void>
}

/** A button for each wallet of the browser that does something with it, and says how far it is. */
export function WalletActs({ act, isReady, otherwise, run }: WalletActsProps) {
  const progress = useSignal<string | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const leaving = useRef(new AbortController())
  useEffect(findWallets, [])
  useEffect(() => () => leaving.current.abort(), [])
  const start = async (wallet: Wallet): Promise<void> => {
    trouble.value = undefined
    progress.value = `Asking ${wallet.name}…`
    try {
      const show = (text: string) => {
        progress.value = text
      }
      await run(wallet, { progress: show, abort: leaving.current.signal })
    } catch (error) {
      trouble.value = messageOf(error)
    } finally {
      progress.value = undefined
    }
  }
  return (
    <>
      <Mistake text={trouble.value} />
      <p class="muted" role="status">
        {progress.value}
      </p>
      {wallets.value.length === 0 ? (
        <p class="muted">No wallet of this browser has announced itself (EIP-6963). {otherwise}</p>
      ) : (
        <div class="actions">
          {wallets.value.map((wallet) => (
            <button
              key={wallet.id}
              type="button"
              class="primary"
              disabled={!isReady || progress.value !== undefined}
              onClick={() => void start(wallet)}
            >
              {act} {wallet.name}
            </button>
          ))}
        </div>
      )}
    </>
  )
}

/** What a wallet said; people who decline get a word for it. */
function messageOf(error: unknown): string {
  const { code, message } = error as { code?: number; message?: string }
  if (code === 4001) return 'The wallet declined: nothing was sent.'
  return message ?? String(error)
}
