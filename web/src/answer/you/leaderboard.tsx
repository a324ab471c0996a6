import { type Leaderboard as LeaderboardReply, PERIODS, type Period } from "@parley/sdk/wire";
import { useState } from "preact/hooks";
import { number } from "../../format.ts";
import { Choice } from "../../parts/choice.tsx";
import { Loading, Notice } from "../../parts/notice.tsx";
import { useLeaderboard } from "../../queries.ts";
import { Trouble } from "../../parts/trouble.tsx";
import { text } from "../../text.ts";
import { BoardName } from "./board-name.tsx";
import { text as youText } from "./text.ts";
import styles from "./leaderboard.module.css";
import { You } from "./you.tsx";

/** Who has earned most, under the names that they chose; one's own place is always in sight. */
export default function Leaderboard() {
  const [period, setPeriod] = useState<Period>("weekly");
  const { data, error, refetch } = useLeaderboard(period);
  return (
    <You page="leaderboard">
      <Choice
        legend={youText.leaderboard.period}
        hideLegend
        value={period}
        onChoose={setPeriod}
        options={PERIODS.map((value) => ({
          value,
          label: youText.leaderboard.periods[value],
        }))}
      />
      {data ? (
        <Board board={data} />
      ) : error ? (
        <Trouble level={2} title={youText.leaderboard.failed} error={error} onTryAgain={() => void refetch()} />
      ) : (
        <Loading rows={5} />
      )}
    </You>
  );
}

function Board({ board }: { board: LeaderboardReply }) {
  const words = youText.leaderboard;
  return (
    <>
      {board.entries.length === 0 ? (
        <Notice level={2} title={words.empty} hint={words.emptyHint} />
      ) : (
        <table class={styles.board}>
          <thead>
            <tr>
              <th scope="col">{words.rank}</th>
              <th scope="col">{words.who}</th>
              <th scope="col">{words.answers}</th>
              <th scope="col">{words.points}</th>
            </tr>
          </thead>
          <tbody>
            {board.entries.map((entry, index) => (
              <tr key={index} data-you={entry.is_current_user || undefined}>
                <td>{number(entry.rank)}</td>
                <td>
                  {entry.name === null ? entry.is_current_user ? words.you : words.someone : <bdi>{entry.name}</bdi>}
                  {entry.name !== null && entry.is_current_user && ` (${words.you})`}
                </td>
                <td>{number(entry.answers)}</td>
                <td>{number(entry.points)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!board.entries.some((entry) => entry.is_current_user) && (
        <p class={styles.own}>
          <span>{board.your_rank === null ? words.unranked : words.yourRank(board.your_rank)}</span>
          {board.your_rank !== null && <strong>{text.feed.pointsLong(board.your_points)}</strong>}
        </p>
      )}
      <BoardName name={board.your_name} />
    </>
  );
}
