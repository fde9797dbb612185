! SPDX-License-Identifier: MIT
! A program in Fortran 77: a ring, each kind of selection, a handler,
! global operations.
      subroutine take(type, count, node, pid)
      integer type, count, node, pid
      integer question, taken
      common /asked/ question, taken
      if (type .ne. 9 .or. count .ne. 4 .or. pid .ne. 0) call exit(4)
      taken = question + node
      end

      subroutine takex(param)
      integer param
      include 'fcube.h'
      integer question, taken
      common /asked/ question, taken
      if (infotype() .ne. 10 .or. infocount() .ne. 4) call exit(4)
      taken = param
      end

      integer function lower(x, work)
      double precision x, work
      if (work .lt. x) x = work
      lower = 0
      end

      program ring
      include 'fnx.h'
      external take, takex, lower
      integer me, n, next, before, got, sent, id, other
      integer info(8), work(3), few(3), lengths(64), nodes(2), i
      integer hw(2), all(64), total
      logical truth(2)
      double precision x(2), dwork(2), begun
      real s(1), swork(1)
      integer question, taken
      common /asked/ question, taken

      me = mynode()
      n = numnodes()
      begun = dclock()
      next = mod(me + 1, n)
      before = mod(me + n - 1, n)
      sent = -me
      call csend(5, sent, 4, next, mypid())
      call crecv(5, got, 4)
      if (got .ne. -before) call exit(5)
      if (infonode() .ne. before .or. infocount() .ne. 4) call exit(6)
      if (infotype() .ne. 5 .or. infoptype() .ne. 0) call exit(6)

! By IDs; a mask of types 0 and 3; by node.
      id = irecv(ibset(ibset(ibset(0, 31), 0), 3), got, 4)
      other = isend(3, me, 4, next, 0)
      id = msgmerge(id, other)
      call msgwait(id)
      if (got .ne. before) call exit(7)
      id = irecvx(-1, got, 4, before, -1, info)
      call csend(6, sent, 4, next, 0)
      call msgwait(id)
      if (info(1) .ne. 6 .or. info(2) .ne. 4) call exit(8)
      if (info(3) .ne. before .or. info(4) .ne. 0) call exit(8)
      call csend(7, sent, 4, me, 0)
      call cprobex(7, me, 0, msginfo)
      if (infotype() .ne. 7 .or. infonode() .ne. me) call exit(9)
      if (iprobe(8) .ne. 0 .or. iprobe(7) .ne. 1) call exit(9)
      call crecvx(7, got, 4, me, 0, info)
      if (got .ne. sent .or. info(3) .ne. me) call exit(9)

! A handler, masked first; one with a parameter.
      taken = -1
      if (masktrap(1) .ne. 0) call exit(10)
      call hrecv(9, question, 4, take)
      call gsync()
      call csend(9, me, 4, next, 0)
      call gsync()
      if (taken .ne. -1) call exit(11)
      if (masktrap(0) .ne. 1) call exit(11)
   10 if (taken .eq. -1) then
         call flick()
         goto 10
      end if
      if (taken .ne. 2 * before) call exit(12)
      call hrecvx(10, question, 4, before, -1, takex, 4711)
      call gsync()
      call csend(10, me, 4, next, 0)
   20 if (taken .ne. 4711) then
         call flick()
         goto 20
      end if

! All nodes together.
      x(1) = me + 1
      x(2) = -me
      call gdsum(x, 2, dwork)
      if (x(1) .ne. n * (n + 1) / 2) call exit(13)
      few(1) = me
      few(2) = -me
      few(3) = 1
      call gihigh(few, 3, work)
      if (few(1) .ne. n - 1 .or. few(2) .ne. 0) call exit(14)
      truth(1) = .true.
      truth(2) = me .eq. 0
      call gland(truth, 2, work)
      if (.not. truth(1) .or. (truth(2) .neqv. n .eq. 1)) call exit(15)
      truth(2) = me .eq. 0
      call glor(truth, 2, work)
      if (.not. truth(2)) call exit(15)
      s(1) = 2
      call gsprod(s, 1, swork)
      if (s(1) .ne. 2.0 ** n) call exit(16)
      x(1) = 10 - me
      call gopf(x, 8, dwork, lower)
      if (x(1) .ne. 11 - n) call exit(17)
      call gcol(me, 4, all, 256, total)
      if (total .ne. 4 * n .or. all(n) .ne. n - 1) call exit(18)
      do 30 i = 1, n
         lengths(i) = 4
   30 continue
      call gcolx(before, lengths, all)
      if (all(1) .ne. n - 1) call exit(19)
      nodes(1) = next
      call gsendx(12, me, 4, nodes, 1)
      call crecv(12, got, 4)
      if (got .ne. before) call exit(20)
      got = csendrecv(13, me, 4, me, 0, 13, other, 4)
      if (got .ne. 4 .or. other .ne. me) call exit(21)
      if (gray(5) .ne. 7 .or. ginv(7) .ne. 5) call exit(22)
      if (dclock() .lt. begun .or. mclock() .lt. 0) call exit(23)
      call hwclock(hw)
      if (nodedim() .gt. n .or. myhost() .ne. n) call exit(24)
      call led(1)
      call gsync()
      if (me .eq. 0) print '(a,i3,a)', 'fortran', n, ': well'
      end
